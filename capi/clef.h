/* clef: decisions of the models Clef and Clef-Flash inside your program. The C interface and its reference manual.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shortest use (errors left out):
 *
 *     clef_runtime *runtime;  clef_runtime_create(CLEF_ABI_VERSION, NULL, &runtime, NULL);
 *     clef_source *source;    clef_source_create(runtime, &source, NULL);
 *     clef_source_add_path(source, NULL, 0, "clef-flash.gguf", CLEF_NUL, NULL);
 *     clef_model *model;      clef_model_load(runtime, source, NULL, &model, NULL);
 *     clef_session *session;  clef_session_create(model, &session, NULL);
 *     clef_decision *answer;  clef_decide_json(session, request, CLEF_NUL, NULL, &answer, NULL);
 *     puts(clef_decision_json(answer, NULL));
 *
 * Rules that hold for every function
 *
 * Status and errors. A function that can fail returns a clef_status and takes `clef_error **error` last, which may be
 *   NULL. On failure *error gets a new error object (free it with clef_error_free), on success it is left as it was.
 *   Other outputs are set to NULL or 0 first and filled on success only. Nothing is thrown, printed or aborted.
 * Handles. NULL where a handle is needed gives CLEF_INVALID_ARGUMENT (accessors: 0, NULL or their value for the unknown).
 *   clef_x_free takes NULL, cannot fail, and may be called in any order: children keep their parents alive.
 * Threads. A `const` handle may be used by any number of threads at once; a non-const one by one thread at a time (misuse
 *   of a session is answered CLEF_BUSY). clef_x_free ends all use.
 * Strings. UTF-8 as pointer and size; size CLEF_NUL means NUL-terminated. Invalid UTF-8 is an error, an embedded NUL is
 *   data. Returned strings are also NUL-terminated, belong to the handle they came from and live as long; a `size_t *size`
 *   output may be NULL.
 * Memory. What you pass in is copied unless the name ends in _borrow. Nothing returned is for free().
 * Callbacks. Tables start with `struct_size` (set it to sizeof the table) and are copied. `release`, when given, is called
 *   exactly once, when the library drops its copy, after the owning handle and all that live on it are freed. No callback
 *   runs after it. A call that fails has taken no table and releases none (the _borrow functions do, as they say).
 *   Callbacks must not throw or longjmp through the library.
 * Growth. Within one ABI major nothing is removed or re-typed. Treat enumeration values you do not know as "other".
 *   Version 0: the interface may still change between minor versions. */
#ifndef CLEF_H
#define CLEF_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define CLEF_CALL __cdecl
#if defined(CLEF_BUILDING_SHARED)
#define CLEF_API __declspec(dllexport)
#else
#define CLEF_API
#endif
#else
#define CLEF_CALL
#if defined(__GNUC__)
#define CLEF_API __attribute__((visibility("default")))
#else
#define CLEF_API
#endif
#endif

/* ---- version ---------------------------------------------------------------------------------------------------- */

/* major << 16 | minor of the interface that this header describes. */
#define CLEF_ABI_VERSION 1u
#define CLEF_VERSION "0.1.0"
/* As a size: the string ends at its NUL. */
#define CLEF_NUL SIZE_MAX

/* The same two values of the library that is linked. Thread-safety: any thread. */
CLEF_API uint32_t CLEF_CALL clef_abi_version(void);
CLEF_API const char* CLEF_CALL clef_version_string(void);

/* ---- handles ---------------------------------------------------------------------------------------------------- */

typedef struct clef_runtime clef_runtime;                 /* thread pool, allocator, log, kernels; const after create */
typedef struct clef_runtime_options clef_runtime_options; /* builder */
typedef struct clef_source clef_source;                   /* the files of one model; builder */
typedef struct clef_load_options clef_load_options;       /* builder */
typedef struct clef_model clef_model;                     /* weights and tokenizer; immutable */
typedef struct clef_tokenizer clef_tokenizer;             /* immutable */
typedef struct clef_schema clef_schema;                   /* questions, independent of a model; immutable */
typedef struct clef_schema_builder clef_schema_builder;   /* builder */
typedef struct clef_state clef_state;                     /* what is judged: text, JSON, pictures, video; builder */
typedef struct clef_options clef_options;                 /* options of one decision; builder */
typedef struct clef_session clef_session;                 /* scratch memory of one call at a time */
typedef struct clef_run clef_run;                         /* a decision made in steps */
typedef struct clef_prefix clef_prefix;                   /* the kept work on a state; immutable */
typedef struct clef_decision clef_decision;               /* a result; immutable, needs no other handle */
typedef struct clef_text clef_text;                       /* an owned string; immutable */
typedef struct clef_error clef_error;                     /* immutable, outlives everything */
typedef struct clef_cancel clef_cancel;                   /* a switch that any thread may trip */
typedef struct clef_quantize_options clef_quantize_options; /* builder */

/* ---- status ----------------------------------------------------------------------------------------------------- */

typedef int32_t clef_status;
enum {
  CLEF_OK = 0,
  /* The argument or the request is wrong; clef_error_at says where. */
  CLEF_INVALID_ARGUMENT = 100,
  CLEF_INVALID_JSON = 101,
  CLEF_INVALID_UNICODE = 102,
  CLEF_WRONG_TYPE = 103,
  CLEF_MISSING_FIELD = 104,
  CLEF_UNKNOWN_FIELD = 105,
  CLEF_DUPLICATE_KEY = 106,
  CLEF_INVALID_VALUE = 107,
  CLEF_EMPTY = 108,
  CLEF_OUT_OF_RANGE = 109,
  CLEF_BUSY = 110, /* the session is in use by another thread or by an unfinished run */
  /* A limit was exceeded; the message names limit and actual count. */
  CLEF_TOO_LONG = 200,
  CLEF_TOO_MANY = 201,
  CLEF_TOO_FEW = 202,
  CLEF_TOO_DEEP = 203,
  CLEF_MEMORY_LIMIT = 204,
  /* A file could not be read. */
  CLEF_IO = 300,
  CLEF_NOT_FOUND = 301,
  /* A file is not what it should be. */
  CLEF_BAD_FILE = 400,
  CLEF_NOT_CLEF = 401,     /* readable, but no Clef model */
  CLEF_MISSING_PART = 402, /* a file or tensor of the model is absent */
  CLEF_NON_FINITE = 403,   /* NaN or infinity in weights or activations; never an answer */
  CLEF_UNSUPPORTED = 500,
  CLEF_OUT_OF_MEMORY = 600,
  CLEF_CANCELLED = 700,
  CLEF_DEVICE = 800,
  CLEF_ABI_MISMATCH = 900,
  CLEF_FORKED = 901, /* the runtime's threads did not survive a fork; only free works here */
  CLEF_INTERNAL = 1000
};

/* Stable name of a status: "ok", "too_long", "wrong_type"; "unknown" for others. Thread-safety: any thread. */
CLEF_API const char* CLEF_CALL clef_status_name(clef_status status);

/* ---- errors: immutable, any thread ------------------------------------------------------------------------------- */

CLEF_API clef_status CLEF_CALL clef_error_status(const clef_error* error);
/* English, for people; the text may change, the status does not. */
CLEF_API const char* CLEF_CALL clef_error_message(const clef_error* error, size_t* size);
/* JSON Pointer to the faulty field of a request ("" = the whole), or NULL when the error has no such place. */
CLEF_API const char* CLEF_CALL clef_error_at(const clef_error* error, size_t* size);
/* File and tensor that the error is about; "" when unknown. Display names, never a path. */
CLEF_API const char* CLEF_CALL clef_error_file(const clef_error* error, size_t* size);
CLEF_API const char* CLEF_CALL clef_error_tensor(const clef_error* error, size_t* size);
/* Byte offset in the file or request text, -1 when unknown. */
CLEF_API int64_t CLEF_CALL clef_error_offset(const clef_error* error);
/* {"error":{"code":"too_long","message":"...","at":"/state"}}; without "at" when there is none. */
CLEF_API const char* CLEF_CALL clef_error_json(const clef_error* error, size_t* size);
CLEF_API void CLEF_CALL clef_error_free(clef_error* error);

/* ---- owned strings: immutable, any thread ------------------------------------------------------------------------ */

CLEF_API const char* CLEF_CALL clef_text_data(const clef_text* text, size_t* size);
CLEF_API void CLEF_CALL clef_text_free(clef_text* text);

/* ---- cancel ------------------------------------------------------------------------------------------------------ */

/* Creates an untripped switch. A call that was given it stops within some 50 ms of the trip and answers CLEF_CANCELLED;
 * the session stays usable. Thread-safety: any thread, all four functions; freeing it during a call is allowed. */
CLEF_API clef_status CLEF_CALL clef_cancel_create(clef_cancel** cancel, clef_error** error);
CLEF_API void CLEF_CALL clef_cancel_trip(clef_cancel* cancel);
CLEF_API void CLEF_CALL clef_cancel_reset(clef_cancel* cancel);
CLEF_API void CLEF_CALL clef_cancel_free(clef_cancel* cancel);

/* ---- callback tables --------------------------------------------------------------------------------------------- */

typedef int32_t clef_log_level;
enum { CLEF_LOG_ERROR = 0, CLEF_LOG_WARNING = 1, CLEF_LOG_INFO = 2, CLEF_LOG_DEBUG = 3 };

/* Log lines. Without it the library is silent. Called on any thread; must not call the library. */
typedef struct clef_log_hooks {
  uint32_t struct_size;
  void(CLEF_CALL* write)(clef_log_level level, const char* message, size_t size, void* user);
  void(CLEF_CALL* release)(void* user);
  void* user;
} clef_log_hooks;

/* Memory for weights that are copied, scratch and activations. `allocate` returns NULL when it has none; size and alignment
 * are given back to `free`. Small objects of the C++ runtime do not pass through it. Called on any thread. */
typedef struct clef_allocator_hooks {
  uint32_t struct_size;
  void*(CLEF_CALL* allocate)(size_t size, size_t alignment, void* user);
  void(CLEF_CALL* free)(void* pointer, size_t size, size_t alignment, void* user);
  void(CLEF_CALL* release)(void* user);
  void* user;
} clef_allocator_hooks;

typedef void(CLEF_CALL* clef_task)(size_t index, void* argument);

/* The host's thread pool. parallel_for must call task(i, argument) once for every i < count and return when all are done;
 * in which order, on which threads, nested or serially does not matter. Called on the thread of the call it serves. */
typedef struct clef_executor_hooks {
  uint32_t struct_size;
  void(CLEF_CALL* parallel_for)(size_t count, clef_task task, void* argument, void* user);
  uint32_t(CLEF_CALL* concurrency)(void* user); /* how many tasks may run at once */
  void(CLEF_CALL* release)(void* user);
  void* user;
} clef_executor_hooks;

/* Bytes from the host. read_at fills all `size` bytes from `offset` and returns 0, anything else is an I/O error. Called on
 * any thread, several at a time. */
typedef struct clef_read_hooks {
  uint32_t struct_size;
  int32_t(CLEF_CALL* read_at)(uint64_t offset, void* out, size_t size, void* user);
  void(CLEF_CALL* release)(void* user);
  void* user;
  uint64_t size; /* of the whole file */
} clef_read_hooks;

typedef int32_t clef_stage;
enum {
  CLEF_STAGE_LOAD = 0,
  CLEF_STAGE_PREFILL = 1,
  CLEF_STAGE_HEAD = 2,
  CLEF_STAGE_QUANTIZE = 3,
  CLEF_STAGE_DECODE = 4, /* encoded pictures into pixels, frames of the host; progress counts it as VISION */
  CLEF_STAGE_SCALE = 5,  /* pixels turned, scaled and cut into patches; progress counts it as VISION */
  CLEF_STAGE_VISION = 6  /* the vision tower and its merger */
};

/* Progress of a call, at most about 20 times a second, and a question whether to go on. Called on the calling thread;
 * may call clef_cancel_trip, nothing else of the library. Either function may be NULL. */
typedef struct clef_progress_hooks {
  uint32_t struct_size;
  void(CLEF_CALL* progress)(clef_stage stage, uint64_t done, uint64_t total, void* user);
  int32_t(CLEF_CALL* cancelled)(void* user); /* non-zero stops the call */
  void(CLEF_CALL* release)(void* user);
  void* user;
} clef_progress_hooks;

/* Receives bytes in order; returns 0 to go on, anything else stops with CLEF_IO. */
typedef int32_t(CLEF_CALL* clef_write)(const void* bytes, size_t size, void* user);

typedef void(CLEF_CALL* clef_release)(void* user);

/* ---- runtime ----------------------------------------------------------------------------------------------------- */

/* Options with their defaults. Thread-safety of all builders: one thread at a time. */
CLEF_API clef_status CLEF_CALL clef_runtime_options_create(clef_runtime_options** options, clef_error** error);
/* Threads of the own pool, the caller included; 1 starts none. Default 0: what affinity and a CPU quota allow. */
CLEF_API clef_status CLEF_CALL clef_runtime_options_set_threads(clef_runtime_options* options, uint32_t threads,
                                                                clef_error** error);
/* Highest instruction set level to use: "auto" (default), "baseline", "avx2", "avx512". */
CLEF_API clef_status CLEF_CALL clef_runtime_options_set_isa(clef_runtime_options* options, const char* name,
                                                            size_t size, clef_error** error);
/* Upper limit in bytes of what passes through the allocator; 0 (default) = none. */
CLEF_API clef_status CLEF_CALL clef_runtime_options_set_memory_limit(clef_runtime_options* options, uint64_t bytes,
                                                                     clef_error** error);
CLEF_API clef_status CLEF_CALL clef_runtime_options_set_log(clef_runtime_options* options, const clef_log_hooks* hooks,
                                                            clef_error** error);
CLEF_API clef_status CLEF_CALL clef_runtime_options_set_allocator(clef_runtime_options* options,
                                                                  const clef_allocator_hooks* hooks,
                                                                  clef_error** error);
CLEF_API clef_status CLEF_CALL clef_runtime_options_set_executor(clef_runtime_options* options,
                                                                 const clef_executor_hooks* hooks, clef_error** error);
/* Adds a device module (a shared library beside this one) by its path. Answers CLEF_UNSUPPORTED until there is one. */
CLEF_API clef_status CLEF_CALL clef_runtime_options_add_module(clef_runtime_options* options, const char* path,
                                                               size_t size, clef_error** error);
CLEF_API void CLEF_CALL clef_runtime_options_free(clef_runtime_options* options);

/* Creates a runtime. `abi_version` is CLEF_ABI_VERSION of the header you compiled with; a library that is older, or of
 * another major, answers CLEF_ABI_MISMATCH. `options` may be NULL. Starts no thread. Thread-safety: any thread. */
CLEF_API clef_status CLEF_CALL clef_runtime_create(uint32_t abi_version, const clef_runtime_options* options,
                                                   clef_runtime** runtime, clef_error** error);
/* Bytes taken from the allocator now and at most so far. Thread-safety: any thread. */
CLEF_API void CLEF_CALL clef_runtime_memory(const clef_runtime* runtime, uint64_t* used, uint64_t* peak);
/* {"version","isa","threads","devices":[...]}. Thread-safety: any thread. */
CLEF_API const char* CLEF_CALL clef_runtime_describe(const clef_runtime* runtime, size_t* size);
CLEF_API void CLEF_CALL clef_runtime_free(clef_runtime* runtime);

/* ---- source: where a model's bytes are --------------------------------------------------------------------------- */

/* A model is one file (GGUF) or several (config.json, tokenizer.json, shards, head). Files added by descriptor, memory or
 * callbacks need the name they would have in the release's directory; a path's name may be empty (its own is used).
 * Two names say what a path is for: "head" the directory of the decision head, or its joint_head.safetensors with the
 * configuration beside it, in place of the head that the model may have; "mmproj" the projector of a GGUF model.
 * Thread-safety: one thread at a time. */
CLEF_API clef_status CLEF_CALL clef_source_create(const clef_runtime* runtime, clef_source** source,
                                                  clef_error** error);
/* A file, a directory, a file inside one, or the first part of a split GGUF. Read-only mapped at load. */
CLEF_API clef_status CLEF_CALL clef_source_add_path(clef_source* source, const char* name, size_t name_size,
                                                    const char* path, size_t path_size, clef_error** error);
/* A range of an open descriptor (length 0: to its end), duplicated here; yours may be closed afterwards.
 * CLEF_UNSUPPORTED on Windows. */
CLEF_API clef_status CLEF_CALL clef_source_add_fd(clef_source* source, const char* name, size_t name_size, int32_t fd,
                                                  uint64_t offset, uint64_t length, clef_error** error);
/* The same for a Windows HANDLE; CLEF_UNSUPPORTED elsewhere. */
CLEF_API clef_status CLEF_CALL clef_source_add_handle(clef_source* source, const char* name, size_t name_size,
                                                      void* handle, uint64_t offset, uint64_t length,
                                                      clef_error** error);
CLEF_API clef_status CLEF_CALL clef_source_add_memory(clef_source* source, const char* name, size_t name_size,
                                                      const void* bytes, size_t size, clef_error** error);
/* Without a copy: the bytes must stay until `release` (may be NULL) is called, which happens on failure too. */
CLEF_API clef_status CLEF_CALL clef_source_add_memory_borrow(clef_source* source, const char* name, size_t name_size,
                                                             const void* bytes, size_t size, clef_release release,
                                                             void* user, clef_error** error);
CLEF_API clef_status CLEF_CALL clef_source_add_callbacks(clef_source* source, const char* name, size_t name_size,
                                                         const clef_read_hooks* hooks, clef_error** error);
CLEF_API void CLEF_CALL clef_source_free(clef_source* source);

/* What the files are, without loading weights: JSON with kind, parts, files, tensors (name, type, shape, bytes),
 * tokenizer rule, limits. Thread-safety: the source is used by this call alone. */
CLEF_API clef_status CLEF_CALL clef_source_describe(const clef_runtime* runtime, clef_source* source, clef_text** json,
                                                    clef_error** error);
/* How an encoded picture would be read, from its header: JSON {"format","width","height","orientation","alpha",
 * "target_width","target_height","tokens"}; width and height as shown, target_ after scaling. Of `options` (may be NULL)
 * those of pictures count. Errors: CLEF_MISSING_PART when the model has no vision part, those of the picture.
 * Thread-safety: the source is used by this call alone. */
CLEF_API clef_status CLEF_CALL clef_source_describe_image(const clef_runtime* runtime, clef_source* source,
                                                          const void* bytes, size_t size, const clef_options* options,
                                                          clef_text** json, clef_error** error);
/* How far the weights of two forms of one model lie apart (release and GGUF, BF16 and quantized), the vision part left out:
 * JSON {"a","b","total","tensors":[{"name","shape","type_a","type_b","equal","differing","relative_error",
 * "max_difference","non_finite":[a,b],"outliers":[{"row","column","a","b"}]}]}. Names are those of GGUF files, rows and
 * columns those of `a`; relative_error is rms(b - a) / rms(a), null when only `a` is all 0. Of `options` (may be NULL)
 * cancel and progress count. Errors: those of a load; CLEF_INVALID_ARGUMENT when the geometries differ.
 * Thread-safety: the sources are used by this call alone. */
CLEF_API clef_status CLEF_CALL clef_source_compare(const clef_runtime* runtime, clef_source* a, clef_source* b,
                                                   const clef_load_options* options, clef_text** json,
                                                   clef_error** error);

/* ---- model ------------------------------------------------------------------------------------------------------- */

CLEF_API clef_status CLEF_CALL clef_load_options_create(clef_load_options** options, clef_error** error);
/* "auto" (default), "exact" (f32 arithmetic), "bf16", "int8". What the library cannot do yet is CLEF_UNSUPPORTED at load. */
CLEF_API clef_status CLEF_CALL clef_load_options_set_compute(clef_load_options* options, const char* name, size_t size,
                                                             clef_error** error);
/* "cpu" (default), or a device of a module. */
CLEF_API clef_status CLEF_CALL clef_load_options_set_device(clef_load_options* options, const char* name, size_t size,
                                                            clef_error** error);
/* "auto" (default: the rule the files state), "qwen2", "qwen35". */
CLEF_API clef_status CLEF_CALL clef_load_options_set_pre_tokenizer(clef_load_options* options, const char* name,
                                                                   size_t size, clef_error** error);
/* 1: copy the weights into memory instead of mapping the file (network drives). Default 0. */
CLEF_API clef_status CLEF_CALL clef_load_options_set_copy_weights(clef_load_options* options, int32_t copy,
                                                                  clef_error** error);
/* 0: skip the look at norm weights for a wrong convention. Default 1. */
CLEF_API clef_status CLEF_CALL clef_load_options_set_check_weights(clef_load_options* options, int32_t check,
                                                                   clef_error** error);
CLEF_API clef_status CLEF_CALL clef_load_options_set_cancel(clef_load_options* options, const clef_cancel* cancel,
                                                            clef_error** error);
CLEF_API clef_status CLEF_CALL clef_load_options_set_progress(clef_load_options* options,
                                                              const clef_progress_hooks* hooks, clef_error** error);
/* Any of the above by name ("compute", "device", "pre_tokenizer", "copy_weights", "check_weights") with a textual value. */
CLEF_API clef_status CLEF_CALL clef_load_options_set(clef_load_options* options, const char* name, size_t name_size,
                                                     const char* value, size_t value_size, clef_error** error);
CLEF_API void CLEF_CALL clef_load_options_free(clef_load_options* options);

/* Loads a model: reads configuration and tokenizer, checks every tensor, maps the weights. `options` may be NULL. The source
 * may be freed afterwards. Errors: CLEF_NOT_CLEF, CLEF_MISSING_PART, CLEF_BAD_FILE, CLEF_UNSUPPORTED with file and tensor.
 * Thread-safety: any number of loads at once, each with its own source. */
CLEF_API clef_status CLEF_CALL clef_model_load(const clef_runtime* runtime, clef_source* source,
                                               const clef_load_options* options, clef_model** model,
                                               clef_error** error);
/* What was loaded: JSON as of clef_source_describe without the tensors, plus compute kind and kernels in use. */
CLEF_API const char* CLEF_CALL clef_model_describe(const clef_model* model, size_t* size);

typedef int32_t clef_limit;
enum {
  CLEF_LIMIT_TOKENS = 0,
  CLEF_LIMIT_VOCABULARY = 1,
  CLEF_LIMIT_QUESTIONS = 2,
  CLEF_LIMIT_OPTIONS = 3,
  CLEF_LIMIT_LEVELS = 4,
  CLEF_LIMIT_IMAGES = 5,       /* of a request */
  CLEF_LIMIT_VIDEOS = 6,       /* of a request */
  CLEF_LIMIT_IMAGE_PIXELS = 7, /* width * height of one picture as it is given */
  CLEF_LIMIT_IMAGE_TOKENS = 8  /* of one picture; larger ones are scaled down. 0: as the model's processor has it */
};
/* A number of the model or of the default limits; 0 for an unknown one. */
CLEF_API uint64_t CLEF_CALL clef_model_limit(const clef_model* model, clef_limit limit);
/* 64 hexadecimal digits that change when the content of the files does (sizes, names and header bytes are hashed). */
CLEF_API const char* CLEF_CALL clef_model_digest(const clef_model* model, size_t* size);
/* Bytes that a decision of so many tokens and questions will need beyond the mapped weights: scratch, and resident weights.
 * Thread-safety: any thread. */
CLEF_API clef_status CLEF_CALL clef_model_estimate(const clef_model* model, uint64_t tokens,
                                                   const clef_options* options, uint64_t* scratch, uint64_t* weights,
                                                   clef_error** error);
/* The same before loading, from the headers of the files alone. */
CLEF_API clef_status CLEF_CALL clef_source_estimate(const clef_runtime* runtime, clef_source* source, uint64_t tokens,
                                                    uint64_t* scratch, uint64_t* weights, clef_error** error);
/* Tokens of a whole prompt: without the state, and of the state. Thread-safety: any thread. */
CLEF_API clef_status CLEF_CALL clef_model_count_tokens(const clef_model* model, const clef_schema* schema,
                                                       const clef_state* state, const clef_options* options,
                                                       uint64_t* fixed_tokens, uint64_t* state_tokens,
                                                       clef_error** error);
/* The prompt as the model reads it: {"tokens":n,"pieces":[{"role","text","ids","scaffold"}...]}. Thread-safety: any thread. */
CLEF_API clef_status CLEF_CALL clef_model_prompt(const clef_model* model, const clef_schema* schema,
                                                 const clef_state* state, const clef_options* options, clef_text** json,
                                                 clef_error** error);
/* The same for a whole request {"model"?, "state", "questions", ...} as JSON. Thread-safety: any thread. */
CLEF_API clef_status CLEF_CALL clef_model_prompt_json(const clef_model* model, const char* request, size_t size,
                                                      const clef_options* options, clef_text** json,
                                                      clef_error** error);
CLEF_API void CLEF_CALL clef_model_free(clef_model* model);

/* ---- tokenizer --------------------------------------------------------------------------------------------------- */

/* The tokenizer of a model, or of files alone (a tokenizer.json, a directory with one, a GGUF). `pre_tokenizer` as above,
 * NULL for "auto". */
CLEF_API clef_status CLEF_CALL clef_model_tokenizer(const clef_model* model, clef_tokenizer** tokenizer,
                                                    clef_error** error);
CLEF_API clef_status CLEF_CALL clef_tokenizer_load(const clef_runtime* runtime, clef_source* source,
                                                   const char* pre_tokenizer, size_t size, clef_tokenizer** tokenizer,
                                                   clef_error** error);
/* Ids of `text` into `ids` (room for `capacity`; NULL with 0 to count); *count gets the whole number, also when it does not
 * fit (CLEF_OUT_OF_RANGE). control != 0: text of added tokens becomes their ids. Thread-safety: any thread. */
CLEF_API clef_status CLEF_CALL clef_tokenizer_encode(const clef_tokenizer* tokenizer, const char* text, size_t size,
                                                     int32_t control, int32_t* ids, size_t capacity, size_t* count,
                                                     clef_error** error);
/* The bytes of ids; unknown ids give nothing. They need not be UTF-8 when the ids cut a character. */
CLEF_API clef_status CLEF_CALL clef_tokenizer_decode(const clef_tokenizer* tokenizer, const int32_t* ids, size_t count,
                                                     clef_text** text, clef_error** error);
CLEF_API void CLEF_CALL clef_tokenizer_free(clef_tokenizer* tokenizer);

/* ---- schema ------------------------------------------------------------------------------------------------------ */

typedef int32_t clef_question_type;
enum { CLEF_NOUL = 0, CLEF_CHOICE = 1, CLEF_SCORE = 2 };

/* Parses the "questions" object of a request, or an object that has one. `options` (may be NULL) carries the limits.
 * The errors are those of a request; clef_error_at points to "/questions/...". Thread-safety: any thread. */
CLEF_API clef_status CLEF_CALL clef_schema_parse(const char* json, size_t size, const clef_options* options,
                                                 clef_schema** schema, clef_error** error);
CLEF_API size_t CLEF_CALL clef_schema_count(const clef_schema* schema);
CLEF_API const char* CLEF_CALL clef_schema_id(const clef_schema* schema, size_t question, size_t* size);
CLEF_API clef_question_type CLEF_CALL clef_schema_type(const clef_schema* schema, size_t question);
CLEF_API size_t CLEF_CALL clef_schema_option_count(const clef_schema* schema, size_t question);
CLEF_API void CLEF_CALL clef_schema_free(clef_schema* schema);

/* Questions one by one; the same rules as in JSON, with plain strings. Texts are an array of pointers and an array of
 * sizes (NULL: all NUL-terminated); a NULL description means none. Instructions may be NULL: the id stands in for them. */
CLEF_API clef_status CLEF_CALL clef_schema_builder_create(const clef_options* options, clef_schema_builder** builder,
                                                          clef_error** error);
/* true_text and false_text override what yes and no mean; NULL keeps the default wording. */
CLEF_API clef_status CLEF_CALL clef_schema_builder_add_noul(clef_schema_builder* builder, const char* id,
                                                            size_t id_size, const char* instructions,
                                                            size_t instructions_size, const char* true_text,
                                                            size_t true_size, const char* false_text, size_t false_size,
                                                            clef_error** error);
CLEF_API clef_status CLEF_CALL clef_schema_builder_add_choice(clef_schema_builder* builder, const char* id,
                                                              size_t id_size, const char* instructions,
                                                              size_t instructions_size, size_t count,
                                                              const char* const* ids, const size_t* id_sizes,
                                                              const char* const* descriptions,
                                                              const size_t* description_sizes, clef_error** error);
/* Levels from low to high. */
CLEF_API clef_status CLEF_CALL clef_schema_builder_add_score(clef_schema_builder* builder, const char* id,
                                                             size_t id_size, const char* instructions,
                                                             size_t instructions_size, size_t count,
                                                             const char* const* levels, const size_t* level_sizes,
                                                             clef_error** error);
/* Makes the schema; the builder is empty afterwards. */
CLEF_API clef_status CLEF_CALL clef_schema_builder_finish(clef_schema_builder* builder, clef_schema** schema,
                                                          clef_error** error);
CLEF_API void CLEF_CALL clef_schema_builder_free(clef_schema_builder* builder);

/* ---- state ------------------------------------------------------------------------------------------------------- */

/* A state is one text or JSON value, after any pictures and video. A new one is the empty text. Thread-safety: building by
 * one thread at a time; the decide functions only read it. */
CLEF_API clef_status CLEF_CALL clef_state_create(clef_state** state, clef_error** error);
CLEF_API clef_status CLEF_CALL clef_state_set_text(clef_state* state, const char* text, size_t size,
                                                   clef_error** error);
/* Without a copy; `release` (may be NULL) is called when the text is no longer needed, on failure too. */
CLEF_API clef_status CLEF_CALL clef_state_set_text_borrow(clef_state* state, const char* text, size_t size,
                                                          clef_release release, void* user, clef_error** error);
/* A JSON value, rendered as the models were trained (sorted keys, Python's number forms); a JSON string is plain text. */
CLEF_API clef_status CLEF_CALL clef_state_set_json(clef_state* state, const char* json, size_t size,
                                                   clef_error** error);
/* An encoded picture (PNG, JPEG, WebP, told apart by content). Pictures come before videos, both before the text. The
 * _borrow form does not copy; `release` (may be NULL) is called when the bytes are no longer needed, on failure too.
 * INVALID_VALUE names what is wrong with the picture; limits (CLEF_LIMIT_IMAGE_PIXELS, ...) are checked when it is used. */
CLEF_API clef_status CLEF_CALL clef_state_add_image(clef_state* state, const void* bytes, size_t size,
                                                    clef_error** error);
CLEF_API clef_status CLEF_CALL clef_state_add_image_borrow(clef_state* state, const void* bytes, size_t size,
                                                           clef_release release, void* user, clef_error** error);

typedef int32_t clef_pixel_format;
enum { CLEF_PIXEL_RGB8 = 0, CLEF_PIXEL_RGBA8 = 1, CLEF_PIXEL_BGR8 = 2, CLEF_PIXEL_BGRA8 = 3, CLEF_PIXEL_GRAY8 = 4 };
/* Pixels, rows `stride` bytes apart from the top. */
CLEF_API clef_status CLEF_CALL clef_state_add_pixels(clef_state* state, const void* pixels, uint32_t width,
                                                     uint32_t height, size_t stride, clef_pixel_format format,
                                                     clef_error** error);
CLEF_API clef_status CLEF_CALL clef_state_add_pixels_borrow(clef_state* state, const void* pixels, uint32_t width,
                                                            uint32_t height, size_t stride, clef_pixel_format format,
                                                            clef_release release, void* user, clef_error** error);
/* Frames of one video, all of one size, copied; `times` in seconds per frame in rising order, or NULL with
 * frames_per_second (0: unknown, taken as 24). sample 1 lets the model's processor choose frames, 0 takes all. */
CLEF_API clef_status CLEF_CALL clef_state_add_video(clef_state* state, const void* const* frames, size_t count,
                                                    uint32_t width, uint32_t height, size_t stride,
                                                    clef_pixel_format format, const double* times,
                                                    double frames_per_second, int32_t sample, clef_error** error);
/* Frames of one video that the host makes when they are needed (from a video file, a renderer), so that at most those of
 * one step lie in memory. `read` fills all `size` bytes with frame `index`, rows without padding, and returns 0; anything
 * else is CLEF_IO at /videos/V/frames/index. It is called on the thread of the decision, in rising order within one
 * decision and never twice at a time; it must not call the library. The rest as clef_state_add_video. */
typedef struct clef_frame_hooks {
  uint32_t struct_size;
  int32_t(CLEF_CALL* read)(uint64_t index, void* pixels, size_t size, void* user);
  void(CLEF_CALL* release)(void* user);
  void* user;
  uint64_t count;
  const double* times; /* `count` of them, or NULL */
  double frames_per_second;
  uint32_t width, height;
  clef_pixel_format format;
  int32_t sample;
} clef_frame_hooks;
CLEF_API clef_status CLEF_CALL clef_state_add_frames(clef_state* state, const clef_frame_hooks* hooks,
                                                     clef_error** error);
CLEF_API void CLEF_CALL clef_state_free(clef_state* state);

/* ---- options of a decision --------------------------------------------------------------------------------------- */

CLEF_API clef_status CLEF_CALL clef_options_create(clef_options** options, clef_error** error);
/* Most tokens of a prompt. Default 0: the model's own limit. A longer state is refused (CLEF_TOO_LONG at /state). */
CLEF_API clef_status CLEF_CALL clef_options_set_max_tokens(clef_options* options, uint64_t tokens, clef_error** error);
typedef int32_t clef_truncation;
enum { CLEF_TRUNCATE_NEVER = 0, CLEF_TRUNCATE_STATE_TAIL = 1 };
/* What happens to a state that is too long. STATE_TAIL drops its end; clef_decision_tokens_dropped tells how much. */
CLEF_API clef_status CLEF_CALL clef_options_set_truncation(clef_options* options, clef_truncation truncation,
                                                           clef_error** error);
/* 1: text such as <|im_end|> in state, ids or criteria becomes the control token (what the reference does). Default 0. */
CLEF_API clef_status CLEF_CALL clef_options_set_control_tokens(clef_options* options, int32_t control,
                                                               clef_error** error);
/* Tokens per chunk of a layer, rounded up to a multiple of 64; never changes a result. Default 0: chosen by memory. */
CLEF_API clef_status CLEF_CALL clef_options_set_chunk(clef_options* options, uint64_t tokens, clef_error** error);
/* Most bytes of the session's scratch; 0 (default) = none. More is refused with CLEF_MEMORY_LIMIT. */
CLEF_API clef_status CLEF_CALL clef_options_set_memory_limit(clef_options* options, uint64_t bytes, clef_error** error);
/* 0: ignore the EXIF orientation of encoded pictures. Default 1. */
CLEF_API clef_status CLEF_CALL clef_options_set_exif(clef_options* options, int32_t apply, clef_error** error);
typedef int32_t clef_alpha;
enum { CLEF_ALPHA_WHITE = 0, CLEF_ALPHA_DROP = 1 };
/* Transparent pictures: composed on white (default), or their alpha dropped. */
CLEF_API clef_status CLEF_CALL clef_options_set_alpha(clef_options* options, clef_alpha alpha, clef_error** error);
typedef int32_t clef_confidence;
enum { CLEF_CONFIDENCE_MAX = 0, CLEF_CONFIDENCE_JEV = 1, CLEF_CONFIDENCE_ENTROPY = 2 };
/* Which formula the JSON answer's "confidence" uses. Default: the largest probability, as the reference. */
CLEF_API clef_status CLEF_CALL clef_options_set_confidence(clef_options* options, clef_confidence formula,
                                                           clef_error** error);
/* 1: the JSON answer carries "detail" (ids, spans, logits, probabilities in prompt order). Default 0. */
CLEF_API clef_status CLEF_CALL clef_options_set_detail(clef_options* options, int32_t detail, clef_error** error);
/* 0: probabilities in JSON with full precision instead of 4 decimals. Default 1. */
CLEF_API clef_status CLEF_CALL clef_options_set_rounding(clef_options* options, int32_t rounding, clef_error** error);
/* 1: refuse unknown request fields and missing instructions. Default 0. */
CLEF_API clef_status CLEF_CALL clef_options_set_strict(clef_options* options, int32_t strict, clef_error** error);
/* Raises or lowers a limit of requests (CLEF_LIMIT_QUESTIONS 64, _OPTIONS 255, _LEVELS 10, _IMAGES 4, _VIDEOS 4,
 * _IMAGE_PIXELS 16777216, _IMAGE_TOKENS 0). */
CLEF_API clef_status CLEF_CALL clef_options_set_limit(clef_options* options, clef_limit limit, uint64_t value,
                                                      clef_error** error);
CLEF_API clef_status CLEF_CALL clef_options_set_cancel(clef_options* options, const clef_cancel* cancel,
                                                       clef_error** error);
CLEF_API clef_status CLEF_CALL clef_options_set_progress(clef_options* options, const clef_progress_hooks* hooks,
                                                         clef_error** error);
/* Any of the above but cancel and progress by name ("max_tokens", "truncation", ..., limits as "max_questions",
 * "max_options", "max_levels", "max_images", "max_videos", "max_image_pixels", "max_image_tokens") with a textual value: a
 * number, 0/1/true/false, or the constant's last word in lower case ("never" or "state_tail", "white", "entropy", ...). */
CLEF_API clef_status CLEF_CALL clef_options_set(clef_options* options, const char* name, size_t name_size,
                                                const char* value, size_t value_size, clef_error** error);
CLEF_API void CLEF_CALL clef_options_free(clef_options* options);

/* ---- session ----------------------------------------------------------------------------------------------------- */

/* Scratch memory for one decision at a time; cheap, make one per concurrent call. Thread-safety: one thread at a time. */
CLEF_API clef_status CLEF_CALL clef_session_create(const clef_model* model, clef_session** session, clef_error** error);
/* Takes the memory of a decision of so many tokens now, so that later calls cannot fail for it. */
CLEF_API clef_status CLEF_CALL clef_session_reserve(clef_session* session, uint64_t tokens, const clef_options* options,
                                                    clef_error** error);
/* Gives scratch memory back. */
CLEF_API void CLEF_CALL clef_session_trim(clef_session* session);
CLEF_API void CLEF_CALL clef_session_memory(const clef_session* session, uint64_t* used, uint64_t* peak);
CLEF_API void CLEF_CALL clef_session_free(clef_session* session);

/* ---- decide ------------------------------------------------------------------------------------------------------ */

/* Answers all questions of the schema about the state, jointly, in one pass. `options` may be NULL.
 * Thread-safety: the session is used by this call alone (else CLEF_BUSY); schema and state are only read. */
CLEF_API clef_status CLEF_CALL clef_decide(clef_session* session, const clef_schema* schema, const clef_state* state,
                                           const clef_options* options, clef_decision** decision, clef_error** error);
/* A whole request {"model"?, "state", "questions", ...} as JSON; the response is clef_decision_json. */
CLEF_API clef_status CLEF_CALL clef_decide_json(clef_session* session, const char* request, size_t size,
                                                const clef_options* options, clef_decision** decision,
                                                clef_error** error);
/* The same with the pictures and videos of `media` behind those of the request; its text is not used. */
CLEF_API clef_status CLEF_CALL clef_decide_json_media(clef_session* session, const char* request, size_t size,
                                                      const clef_state* media, const clef_options* options,
                                                      clef_decision** decision, clef_error** error);
/* Several at once, decisions[i] and errors[i] (array may be NULL) for schemas[i] and states[i]. Returns CLEF_OK when all
 * succeeded, else the status of the first that failed; the others are answered all the same. An entry that has no decision
 * or no error is set to NULL. */
CLEF_API clef_status CLEF_CALL clef_decide_many(clef_session* session, size_t count, const clef_schema* const* schemas,
                                                const clef_state* const* states, const clef_options* options,
                                                clef_decision** decisions, clef_error** errors);

/* In steps, for frame loops. The session is busy until the run is freed. */
CLEF_API clef_status CLEF_CALL clef_run_start(clef_session* session, const clef_schema* schema, const clef_state* state,
                                              const clef_options* options, clef_run** run, clef_error** error);
/* Works for about `budget` microseconds (at least one step; 0: exactly one) and sets *finished to 1 when done. */
CLEF_API clef_status CLEF_CALL clef_run_step(clef_run* run, uint64_t budget, int32_t* finished, clef_error** error);
CLEF_API void CLEF_CALL clef_run_progress(const clef_run* run, uint64_t* done, uint64_t* total);
/* The result of a finished run (CLEF_INVALID_ARGUMENT before). */
CLEF_API clef_status CLEF_CALL clef_run_finish(clef_run* run, clef_decision** decision, clef_error** error);
CLEF_API void CLEF_CALL clef_run_free(clef_run* run);

/* ---- kept states ------------------------------------------------------------------------------------------------- */

/* Keeps the work on a state, so that further questions about it cost only themselves. Answers equal those without it bit
 * for bit. Not available yet: CLEF_UNSUPPORTED. */
CLEF_API clef_status CLEF_CALL clef_prefix_create(clef_session* session, const clef_state* state,
                                                  const clef_options* options, clef_prefix** prefix,
                                                  clef_error** error);
CLEF_API clef_status CLEF_CALL clef_prefix_save(const clef_prefix* prefix, clef_write write, void* user,
                                                clef_error** error);
CLEF_API clef_status CLEF_CALL clef_prefix_load(const clef_model* model, clef_source* source, clef_prefix** prefix,
                                                clef_error** error);
CLEF_API clef_status CLEF_CALL clef_decide_prefix(clef_session* session, const clef_prefix* prefix,
                                                  const clef_schema* schema, const clef_options* options,
                                                  clef_decision** decision, clef_error** error);
CLEF_API void CLEF_CALL clef_prefix_free(clef_prefix* prefix);

/* ---- decision: immutable, any thread ----------------------------------------------------------------------------- */

CLEF_API size_t CLEF_CALL clef_decision_count(const clef_decision* decision);
/* Index of a question by id, or SIZE_MAX. */
CLEF_API size_t CLEF_CALL clef_decision_find(const clef_decision* decision, const char* id, size_t size);
CLEF_API const char* CLEF_CALL clef_decision_id(const clef_decision* decision, size_t question, size_t* size);
CLEF_API clef_question_type CLEF_CALL clef_decision_type(const clef_decision* decision, size_t question);
/* Options in request order: noul "true", "false"; score "0", "1", ... */
CLEF_API size_t CLEF_CALL clef_decision_option_count(const clef_decision* decision, size_t question);
CLEF_API const char* CLEF_CALL clef_decision_option_id(const clef_decision* decision, size_t question, size_t option,
                                                       size_t* size);
/* option_count floats each, in request order, full precision; NULL for a question that does not exist. */
CLEF_API const float* CLEF_CALL clef_decision_probabilities(const clef_decision* decision, size_t question);
CLEF_API const float* CLEF_CALL clef_decision_logits(const clef_decision* decision, size_t question);
/* noul: probability of true. score: sum of index times probability. choice: index of the chosen option. NaN if unknown. */
CLEF_API double CLEF_CALL clef_decision_value(const clef_decision* decision, size_t question);
/* Index in request order of the most probable option (the first among equals), SIZE_MAX if unknown. */
CLEF_API size_t CLEF_CALL clef_decision_top(const clef_decision* decision, size_t question);
CLEF_API double CLEF_CALL clef_decision_confidence(const clef_decision* decision, size_t question,
                                                   clef_confidence formula);
/* Tokens read (after any cut), and tokens cut off the state's end. */
CLEF_API uint64_t CLEF_CALL clef_decision_input_tokens(const clef_decision* decision);
CLEF_API uint64_t CLEF_CALL clef_decision_tokens_dropped(const clef_decision* decision);
/* The prompt's token ids, input_tokens of them. */
CLEF_API const int32_t* CLEF_CALL clef_decision_ids(const clef_decision* decision);
/* Token range [*begin, *end) of a question's instruction (option == SIZE_MAX) or of an option (request order). */
CLEF_API clef_status CLEF_CALL clef_decision_span(const clef_decision* decision, size_t question, size_t option,
                                                  uint64_t* begin, uint64_t* end);
/* Nanoseconds spent in a stage; 0 for those that a decision does not have. */
CLEF_API uint64_t CLEF_CALL clef_decision_time(const clef_decision* decision, clef_stage stage);
/* The response: {"model","answers":{...},"usage":{...}} and "detail" when asked for. Made with the decision. */
CLEF_API const char* CLEF_CALL clef_decision_json(const clef_decision* decision, size_t* size);
CLEF_API void CLEF_CALL clef_decision_free(clef_decision* decision);

/* ---- quantize: writing a model as GGUF ---------------------------------------------------------------------------- */

CLEF_API clef_status CLEF_CALL clef_quantize_options_create(clef_quantize_options** options, clef_error** error);
/* "Q4_K_M" (default), "Q8_0", "BF16", ...: the mixtures that llama.cpp knows by these names, without those below 2 bits
 * per weight and IQ2, IQ3; or one type for all: F32, F16, BF16, Q3_K, Q4_K, Q5_K. Names are checked by clef_quantize. */
CLEF_API clef_status CLEF_CALL clef_quantize_options_set_type(clef_quantize_options* options, const char* name,
                                                              size_t size, clef_error** error);
/* 1: one type for all matrices instead of the mixture of that name. Default 0. */
CLEF_API clef_status CLEF_CALL clef_quantize_options_set_pure(clef_quantize_options* options, int32_t pure,
                                                              clef_error** error);
/* "clef" (default), or "qwen35": the backbone alone, for other programs. */
CLEF_API clef_status CLEF_CALL clef_quantize_options_set_architecture(clef_quantize_options* options, const char* name,
                                                                      size_t size, clef_error** error);
/* Type of the decision head's matrices: "" (default) keeps them precise (Q8_0, or the file's own 16 or 32 bits), "mixture"
 * treats them as llama.cpp would, or a type's name. */
CLEF_API clef_status CLEF_CALL clef_quantize_options_set_head_type(clef_quantize_options* options, const char* name,
                                                                   size_t size, clef_error** error);
/* Type of the matrices whose names in the written file match a pattern with * and ?; later ones win. */
CLEF_API clef_status CLEF_CALL clef_quantize_options_set_tensor_type(clef_quantize_options* options,
                                                                     const char* pattern, size_t pattern_size,
                                                                     const char* type, size_t type_size,
                                                                     clef_error** error);
/* File with an importance matrix of llama.cpp, in either of its two forms. */
CLEF_API clef_status CLEF_CALL clef_quantize_options_set_importance(clef_quantize_options* options, const char* path,
                                                                    size_t size, clef_error** error);
/* 1: a file that exists is replaced. Default 0: refused. */
CLEF_API clef_status CLEF_CALL clef_quantize_options_set_overwrite(clef_quantize_options* options, int32_t overwrite,
                                                                   clef_error** error);
CLEF_API clef_status CLEF_CALL clef_quantize_options_set_cancel(clef_quantize_options* options,
                                                                const clef_cancel* cancel, clef_error** error);
CLEF_API clef_status CLEF_CALL clef_quantize_options_set_progress(clef_quantize_options* options,
                                                                  const clef_progress_hooks* hooks, clef_error** error);
CLEF_API void CLEF_CALL clef_quantize_options_free(clef_quantize_options* options);

/* Writes the model of `source`, in whatever form, as one GGUF file at `path`. The work is done in PATH.part, which is read
 * back and compared before it gets its name; after an error of the disk or a cancel it stays, and the same call goes on
 * with it. *report_json (may be NULL) tells what was written: {"file","file_bytes","tensors","weights","tensor_bytes",
 * "bits_per_weight","types":[{"type","tensors","weights","bytes"}...],"seconds","notes":[...]}. The bytes written do not
 * depend on the number of threads. `options` may be NULL. Thread-safety: the source is used by this call alone. */
CLEF_API clef_status CLEF_CALL clef_quantize(const clef_runtime* runtime, clef_source* source, const char* path,
                                             size_t size, const clef_quantize_options* options, clef_text** report_json,
                                             clef_error** error);

#ifdef __cplusplus
}
#endif

#endif /* CLEF_H */
