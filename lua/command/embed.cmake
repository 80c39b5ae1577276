# cmake -DINPUT=file.lua -DNAME=symbol -DOUTPUT=file.c -P embed.cmake
# Writes a C file with the bytes of INPUT, a zero after them, and their number.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"actl_parts.h\"

const char ${NAME}[] = {
${bytes}'\\0'};
const size_t ${NAME}_size = sizeof ${NAME} - 1;
")
