/*
 * pairs.c - a client with many messages in flight: scenarios/ping-pong-pairs.lua, in-process.lua.
 *
 * Its echo is that of ping_pong.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include "native.h"

/* Spawned with the echo's pid, the number of messages, how many of them may be in flight, and
 * whether they go in batches: then the next go out when all of the last have been answered,
 * otherwise one after each answer. An ask starts it and is answered with both tallies: of answers,
 * and what the echo had heard with the last. */
struct client {
  actl_pid echo;
  int64_t messages, window;
  int64_t sent, got;
  actl_request request;
  bool in_batches;
};

static actl_status client_init(actl_ctx *ctx, void *state, const actl_msg *args) {
  (void)ctx;
  struct client *client = state;
  client->echo = actl_msg_pid(args, 0);
  client->messages = actl_msg_int(args, 1, 0);
  client->window = actl_msg_int(args, 2, 0);
  client->in_batches = actl_msg_value(args, 3).type == ACTL_TRUE;
  return client->messages > 0 && client->window > 0 ? ACTL_OK : ACTL_INVALID;
}

/* Sends up to `n` messages. */
static actl_status client_send(actl_ctx *ctx, struct client *client, int64_t n) {
  actl_status status = ACTL_OK;
  for (; n > 0 && client->sent < client->messages && status == ACTL_OK; n--) {
    client->sent++;
    status = actl_send(ctx, client->echo, ACTL_VALUES(actl_int(client->got)));
  }
  return status;
}

static actl_status client_receive(actl_ctx *ctx, void *state, const actl_msg *msg) {
  struct client *client = state;
  int64_t heard = actl_msg_int(msg, 0, -1);
  if (heard < 0) {
    actl_status status = actl_later(ctx, &client->request);
    return status == ACTL_OK ? client_send(ctx, client, client->window) : status;
  }

  if (++client->got == client->messages)
    return actl_request_reply(ctx, client->request,
                              ACTL_VALUES(actl_int(client->got), actl_int(heard)));
  if (!client->in_batches) return client_send(ctx, client, 1);
  return client->got == client->sent ? client_send(ctx, client, client->window) : ACTL_OK;
}

const actl_behavior actl_bench_client = {
    .name = "bench.client",
    .state_size = sizeof(struct client),
    .init = client_init,
    .receive = client_receive,
};
