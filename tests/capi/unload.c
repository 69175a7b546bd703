/* Loads and unloads the library again and again: nothing may stay, no thread, no mapping, no descriptor. */
#include <dirent.h>
#include <dlfcn.h>
#include <string.h>

#include "clef.h"
#include "program.h"

static int entries(const char* path) {
  DIR* directory = opendir(path);
  int count = 0;
  CHECK(directory != NULL);
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}

static int mapped(const char* what) {
  char line[4096];
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL) count += strstr(line, what) != NULL;
  fclose(maps);
  return count;
}

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s\n", name);
  CHECK(found != NULL);
  return found;
}

/* The function of the library, of the type that clef.h declares. */
#define LOAD(name)                   \
  __typeof__(&name) name##_function; \
  *(void**)&name##_function = symbol(library, #name)

static void once(const char* path, const char* model_path, int decide) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  CHECK(library != NULL);
  LOAD(clef_runtime_create);
  LOAD(clef_runtime_options_create);
  LOAD(clef_runtime_options_set_threads);
  LOAD(clef_runtime_options_free);
  LOAD(clef_runtime_free);
  clef_runtime_options* options = NULL;
  clef_runtime* runtime = NULL;
  CHECK(clef_runtime_options_create_function(&options, NULL) == CLEF_OK);
  CHECK(clef_runtime_options_set_threads_function(options, 3, NULL) == CLEF_OK);
  CHECK(clef_runtime_create_function(CLEF_ABI_VERSION, options, &runtime, NULL) == CLEF_OK);
  if (decide) {
    LOAD(clef_source_create);
    LOAD(clef_source_add_path);
    LOAD(clef_model_load);
    LOAD(clef_session_create);
    LOAD(clef_decide_json);
    LOAD(clef_source_free);
    LOAD(clef_model_free);
    LOAD(clef_session_free);
    LOAD(clef_decision_free);
    clef_source* source = NULL;
    clef_model* model = NULL;
    clef_session* session = NULL;
    clef_decision* decision = NULL;
    CHECK(clef_source_create_function(runtime, &source, NULL) == CLEF_OK);
    CHECK(clef_source_add_path_function(source, NULL, 0, model_path, CLEF_NUL, NULL) == CLEF_OK);
    CHECK(clef_model_load_function(runtime, source, NULL, &model, NULL) == CLEF_OK);
    CHECK(clef_session_create_function(model, &session, NULL) == CLEF_OK);
    CHECK(clef_decide_json_function(session, REQUEST, CLEF_NUL, NULL, &decision, NULL) == CLEF_OK);
    CHECK(entries("/proc/self/task") > 3); /* . and .. and more than one thread: the pool was at work */
    clef_decision_free_function(decision);
    clef_session_free_function(session);
    clef_model_free_function(model);
    clef_source_free_function(source);
  }
  clef_runtime_free_function(runtime);
  clef_runtime_options_free_function(options);
  CHECK(mapped("libclef") > 0);
  CHECK(dlclose(library) == 0);
  CHECK(mapped("libclef") == 0);
  CHECK(mapped("clef-nano") == 0);
}

int main(int count, char** arguments) {
  CHECK(count == 3);
  once(arguments[1], arguments[2], 1);
  const int threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
  for (int i = 0; i < 100; ++i) once(arguments[1], arguments[2], i % 10 == 0);
  CHECK(entries("/proc/self/task") == threads);
  CHECK(threads == 3); /* . and .. and this one */
  CHECK(entries("/proc/self/fd") == files);
  return 0;
}
