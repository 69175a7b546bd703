/* A C99 program that uses the library as a stranger does: one decision with the model whose folder is given. */
#include <stdio.h>
#include <string.h>

#include "clef.h"

static int fail(const char* what, const clef_error* error) {
  fprintf(stderr, "%s: %s\n", what, clef_error_message(error, NULL));
  return 1;
}

int main(int argc, char** argv) {
  const char* request =
      "{\"state\":\"I was charged twice, please refund me.\","
      "\"questions\":{\"refund\":{\"type\":\"noul\",\"instructions\":\"The customer wants a refund.\"}}}";
  clef_runtime* runtime = NULL;
  clef_source* source = NULL;
  clef_model* model = NULL;
  clef_session* session = NULL;
  clef_decision* decision = NULL;
  clef_error* error = NULL;
  const char* json;

  if (argc != 2) return 2;
  if (clef_abi_version() != CLEF_ABI_VERSION || strcmp(clef_version_string(), CLEF_VERSION) != 0) {
    fprintf(stderr, "header and library differ\n");
    return 1;
  }
  if (clef_runtime_create(CLEF_ABI_VERSION, NULL, &runtime, &error) != CLEF_OK) return fail("runtime", error);
  if (clef_source_create(runtime, &source, &error) != CLEF_OK) return fail("source", error);
  if (clef_source_add_path(source, NULL, 0, argv[1], CLEF_NUL, &error) != CLEF_OK) return fail("path", error);
  if (clef_model_load(runtime, source, NULL, &model, &error) != CLEF_OK) return fail("load", error);
  if (clef_session_create(model, &session, &error) != CLEF_OK) return fail("session", error);
  if (clef_decide_json(session, request, CLEF_NUL, NULL, &decision, &error) != CLEF_OK) return fail("decide", error);
  json = clef_decision_json(decision, NULL);
  puts(json);
  if (strstr(json, "\"refund\"") == NULL || !(clef_decision_value(decision, 0) > 0.5)) return 1;
  clef_decision_free(decision);
  clef_session_free(session);
  clef_model_free(model);
  clef_source_free(source);
  clef_runtime_free(runtime);
  return 0;
}
