// Files on Windows: UTF-8 paths converted strictly to UTF-16, mapped read-only, or read with ReadFile.
#include <algorithm>
#include <cstring>

#include "io/range.hpp"
#include "io/source.hpp"
#include "io/windows.hpp"

namespace clef::io {

base::Status windows_error(std::string_view name, std::string_view action, DWORD error, int64_t offset) {
  base::Code code = base::Code::io;
  std::string why = "system error " + std::to_string(error);
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
      code = base::Code::not_found;
      why = "no such file or directory";
      break;
    case ERROR_ACCESS_DENIED:
      why = "permission denied";
      break;
    case ERROR_SHARING_VIOLATION:
      why = "another program has it open for writing";
      break;
    case ERROR_TOO_MANY_OPEN_FILES:
      why = "too many open files";
      break;
    case ERROR_NOT_ENOUGH_MEMORY:
      why = "out of memory";
      break;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      why = "no space left on the disk";
      break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:
      why = "it exists already";
      break;
    case ERROR_WRITE_PROTECT:
      why = "the disk is write-protected";
      break;
    default:
      break;
  }
  return file_error(code, name, std::string(action) + ": " + why, offset);
}

namespace {

base::Result<std::wstring> to_utf16(std::string_view utf8) {
  if (utf8.size() > 32767) return base::Status(base::Code::invalid_argument, "the path is longer than 32767 bytes");
  const int bytes = static_cast<int>(utf8.size());
  const int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), bytes, nullptr, 0);
  if (units <= 0) return base::Status(base::Code::invalid_unicode, "the path is not valid UTF-8");
  std::wstring wide(static_cast<size_t>(units), L'\0');
  MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8.data(), bytes, wide.data(), units);
  return wide;
}

base::Status cannot_use(std::string_view path) {
  const DWORD error = GetLastError();
  return windows_error(display_name(path), "cannot use the path", error);
}

}  // namespace

base::Result<std::wstring> system_path(std::string_view path) {
  CLEF_RETURN_IF_ERROR(check_path(path));
  CLEF_ASSIGN_OR_RETURN(std::wstring wide, to_utf16(path));
  if (wide.starts_with(L"\\\\?\\") || wide.starts_with(L"\\\\.\\")) return wide;
  const DWORD needed = GetFullPathNameW(wide.c_str(), 0, nullptr, nullptr);
  if (needed == 0) return cannot_use(path);
  std::wstring full(needed, L'\0');
  const DWORD length = GetFullPathNameW(wide.c_str(), needed, full.data(), nullptr);
  // The needed length can grow between the calls when another thread changes the working directory.
  if (length == 0 || length >= needed) return cannot_use(path);
  full.resize(length);
  constexpr size_t kShortPath = 240;  // below MAX_PATH with room for what the system appends
  if (full.size() < kShortPath) return full;
  if (full.starts_with(L"\\\\")) return L"\\\\?\\UNC\\" + full.substr(2);
  return L"\\\\?\\" + full;
}

namespace {

struct Handle {
  HANDLE value = INVALID_HANDLE_VALUE;
  explicit Handle(HANDLE handle) : value(handle) {}
  Handle(Handle&& other) noexcept : value(other.value) { other.value = INVALID_HANDLE_VALUE; }
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (value != INVALID_HANDLE_VALUE && value != nullptr) CloseHandle(value);
  }
};

class FileSource final : public ByteSource {
 public:
  // Bytes [begin, begin + size) of a file.
  FileSource(std::string name, Handle file, uint64_t begin, uint64_t size)
      : name_(std::move(name)), file_(std::move(file)), begin_(begin), size_(size) {
    if (size_ == 0 || size_ > SIZE_MAX - begin_) return;
    // The view keeps the mapping object alive.
    const Handle mapping(CreateFileMappingW(file_.value, nullptr, PAGE_READONLY, 0, 0, nullptr));
    if (mapping.value == nullptr) return;
    // From the start of the file: views begin at multiples of the allocation granularity only.
    view_ = MapViewOfFile(mapping.value, FILE_MAP_READ, 0, 0, static_cast<SIZE_T>(begin_ + size_));
  }
  ~FileSource() override {
    if (view_ != nullptr) UnmapViewOfFile(view_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  const std::string& name() const noexcept override { return name_; }
  uint64_t size() const noexcept override { return size_; }
  const std::byte* data() const noexcept override {
    return view_ != nullptr ? static_cast<const std::byte*>(view_) + begin_ : nullptr;
  }

  base::Status read(uint64_t offset, std::span<std::byte> out) const override {
    CLEF_RETURN_IF_ERROR(check_range(name_, size_, offset, out.size()));
    if (view_ != nullptr) {
      if (!out.empty()) std::memcpy(out.data(), data() + offset, out.size());
      return {};
    }
    while (!out.empty()) {
      const auto step = static_cast<DWORD>(std::min(out.size(), size_t{1} << 30));
      OVERLAPPED where = {};
      where.Offset = static_cast<DWORD>((begin_ + offset) & 0xffffffffu);
      where.OffsetHigh = static_cast<DWORD>((begin_ + offset) >> 32);
      DWORD got = 0;
      const auto place = static_cast<int64_t>(offset);
      const DWORD error = ReadFile(file_.value, out.data(), step, &got, &where) ? 0 : GetLastError();
      if (error != 0 && error != ERROR_HANDLE_EOF)
        return windows_error(name_, "cannot read at offset " + std::to_string(offset), error, place);
      if (got == 0)
        return file_error(base::Code::io, name_,
                          "ends at offset " + std::to_string(offset) + "; it was cut while it was in use", place);
      out = out.subspan(got);
      offset += got;
    }
    return {};
  }

 private:
  std::string name_;
  Handle file_;
  uint64_t begin_, size_;
  void* view_ = nullptr;
};

base::Result<uint64_t> regular_size(HANDLE file, const std::string& name) {
  if (GetFileType(file) != FILE_TYPE_DISK)
    return file_error(base::Code::io, name, "is a device or a pipe; only regular files can be read");
  LARGE_INTEGER size = {};
  if (!GetFileSizeEx(file, &size)) return windows_error(name, "cannot look at the file", GetLastError());
  return static_cast<uint64_t>(size.QuadPart);
}

}  // namespace

base::Result<SourcePtr> open_path(std::string_view path) {
  CLEF_ASSIGN_OR_RETURN(const std::wstring wide, system_path(path));
  std::string name = display_name(path);
  const DWORD attributes = GetFileAttributesW(wide.c_str());
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
    return file_error(base::Code::io, name, "is a directory, not a file");
  // Writers are kept out while the file is mapped; renaming and deleting stay possible.
  Handle file(CreateFileW(wide.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                          FILE_ATTRIBUTE_NORMAL, nullptr));
  if (file.value == INVALID_HANDLE_VALUE) return windows_error(name, "cannot open", GetLastError());
  CLEF_ASSIGN_OR_RETURN(const uint64_t size, regular_size(file.value, name));
  return SourcePtr(std::make_shared<FileSource>(std::move(name), std::move(file), 0, size));
}

base::Result<SourcePtr> open_handle(void* handle, uint64_t offset, uint64_t length, std::string_view name) {
  std::string shown = display_name(name);
  HANDLE copy = INVALID_HANDLE_VALUE;
  if (handle == nullptr || handle == INVALID_HANDLE_VALUE ||
      !DuplicateHandle(GetCurrentProcess(), handle, GetCurrentProcess(), &copy, 0, FALSE, DUPLICATE_SAME_ACCESS))
    return file_error(base::Code::invalid_argument, shown, "the handle is not open");
  Handle file(copy);
  CLEF_ASSIGN_OR_RETURN(const uint64_t size, regular_size(file.value, shown));
  CLEF_RETURN_IF_ERROR(check_part(shown, size, offset, length));
  return SourcePtr(
      std::make_shared<FileSource>(std::move(shown), std::move(file), offset, length == 0 ? size - offset : length));
}

base::Result<SourcePtr> open_fd(int, uint64_t, uint64_t, std::string_view name) {
  return file_error(base::Code::unsupported, display_name(name),
                    "file descriptors are not supported on Windows; use a handle, a path, memory or callbacks");
}

PathKind path_kind(std::string_view path) {
  const auto wide = system_path(path);
  if (!wide.ok()) return PathKind::missing;
  const DWORD attributes = GetFileAttributesW(wide.value().c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return PathKind::missing;
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return PathKind::directory;
  return (attributes & FILE_ATTRIBUTE_DEVICE) != 0 ? PathKind::other : PathKind::file;
}

base::Result<std::vector<std::string>> list_directory(std::string_view path) {
  CLEF_ASSIGN_OR_RETURN(const std::wstring wide, system_path(join_path(path, "*")));
  const std::string shown = display_name(path);
  WIN32_FIND_DATAW entry = {};
  const HANDLE search = FindFirstFileW(wide.c_str(), &entry);
  if (search == INVALID_HANDLE_VALUE) {
    const DWORD error = GetLastError();
    if (error == ERROR_FILE_NOT_FOUND) return std::vector<std::string>();  // the root of an empty volume
    return windows_error(shown, "cannot open the folder", error);
  }
  const std::unique_ptr<void, BOOL(WINAPI*)(HANDLE)> guard(search, FindClose);
  std::vector<std::string> names;
  do {
    const std::wstring_view name = entry.cFileName;
    if (name == L"." || name == L"..") continue;
    const int units = static_cast<int>(name.size());
    // Names that are not valid UTF-16 cannot be given back as a path and are left out.
    const int bytes =
        WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, name.data(), units, nullptr, 0, nullptr, nullptr);
    if (bytes <= 0) continue;
    std::string utf8(static_cast<size_t>(bytes), '\0');
    WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, name.data(), units, utf8.data(), bytes, nullptr, nullptr);
    names.push_back(std::move(utf8));
  } while (FindNextFileW(search, &entry));
  const DWORD error = GetLastError();
  if (error != ERROR_NO_MORE_FILES) return windows_error(shown, "cannot list the folder", error);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace clef::io
