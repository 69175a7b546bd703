/* Shared by the plain C programs of these tests. */
#ifndef CLEF_TESTS_PROGRAM_H
#define CLEF_TESTS_PROGRAM_H
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#define REQUEST                                                                                  \
  "{\"state\":\"I was charged twice. Please give me my money back.\",\"questions\":{\"refund\":" \
  "{\"type\":\"noul\",\"instructions\":\"Is a refund requested?\"}}}"
#endif
