// Writing files on Windows.
#include "io/file_writer.hpp"

#include <algorithm>

#include "io/range.hpp"
#include "io/source.hpp"
#include "io/windows.hpp"

namespace clef::io {
namespace {

OVERLAPPED at_offset(uint64_t offset) noexcept {
  OVERLAPPED where = {};
  where.Offset = static_cast<DWORD>(offset & 0xffffffffu);
  where.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return where;
}

constexpr size_t kLargestStep = size_t{1} << 30;

class WindowsWriter final : public FileWriter {
 public:
  WindowsWriter(std::string name, HANDLE file) : name_(std::move(name)), file_(file) {}
  ~WindowsWriter() override { CloseHandle(file_); }
  WindowsWriter(const WindowsWriter&) = delete;
  WindowsWriter& operator=(const WindowsWriter&) = delete;

  const std::string& name() const noexcept override { return name_; }

  base::Result<uint64_t> size() const override {
    LARGE_INTEGER size = {};
    if (!GetFileSizeEx(file_, &size)) return windows_error(name_, "cannot look at the file", GetLastError());
    return static_cast<uint64_t>(size.QuadPart);
  }

  base::Status read(uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      OVERLAPPED where = at_offset(offset);
      DWORD got = 0;
      const auto place = static_cast<int64_t>(offset);
      const auto step = static_cast<DWORD>(std::min(out.size(), kLargestStep));
      const DWORD error = ReadFile(file_, out.data(), step, &got, &where) ? 0 : GetLastError();
      if (error != 0 && error != ERROR_HANDLE_EOF)
        return windows_error(name_, "cannot read at offset " + std::to_string(offset), error, place);
      if (got == 0) return file_error(base::Code::io, name_, "ends at offset " + std::to_string(offset), place);
      out = out.subspan(got);
      offset += got;
    }
    return {};
  }

  base::Status write(uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      OVERLAPPED where = at_offset(offset);
      DWORD put = 0;
      const auto step = static_cast<DWORD>(std::min(bytes.size(), kLargestStep));
      if (!WriteFile(file_, bytes.data(), step, &put, &where) || put == 0)
        return windows_error(name_, "cannot write at offset " + std::to_string(offset), GetLastError(),
                             static_cast<int64_t>(offset));
      bytes = bytes.subspan(put);
      offset += put;
    }
    return {};
  }

  base::Status resize(uint64_t size) override {
    LARGE_INTEGER place = {};
    place.QuadPart = static_cast<LONGLONG>(size);
    if (SetFilePointerEx(file_, place, nullptr, FILE_BEGIN) && SetEndOfFile(file_)) return {};
    return windows_error(name_, "cannot change the size", GetLastError());
  }

  base::Status flush() override {
    if (FlushFileBuffers(file_)) return {};
    return windows_error(name_, "cannot write to the disk", GetLastError());
  }

 private:
  std::string name_;
  HANDLE file_;
};

}  // namespace

base::Result<std::unique_ptr<FileWriter>> open_writer(std::string_view path, Existing existing) {
  CLEF_ASSIGN_OR_RETURN(const std::wstring wide, system_path(path));
  std::string name = display_name(path);
  // Others may neither write nor read what is not whole yet.
  const HANDLE file =
      CreateFileW(wide.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                  existing == Existing::refuse ? CREATE_NEW : OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) {
    const DWORD error = GetLastError();
    if (error == ERROR_SHARING_VIOLATION)
      return file_error(base::Code::busy, name, "is being written by another program; wait for it, or stop it");
    return windows_error(name, "cannot be written", error);
  }
  auto writer = std::make_unique<WindowsWriter>(name, file);
  if (GetFileType(file) != FILE_TYPE_DISK) return file_error(base::Code::io, name, "is not a regular file");
  if (existing == Existing::clear) CLEF_RETURN_IF_ERROR(writer->resize(0));
  return std::unique_ptr<FileWriter>(std::move(writer));
}

base::Status replace_file(std::string_view from, std::string_view to) {
  CLEF_ASSIGN_OR_RETURN(const std::wstring old_path, system_path(from));
  CLEF_ASSIGN_OR_RETURN(const std::wstring new_path, system_path(to));
  if (MoveFileExW(old_path.c_str(), new_path.c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return {};
  return windows_error(display_name(to), "cannot be put in place of " + display_name(from), GetLastError());
}

base::Status remove_file(std::string_view path) {
  CLEF_ASSIGN_OR_RETURN(const std::wstring wide, system_path(path));
  if (DeleteFileW(wide.c_str())) return {};
  const DWORD error = GetLastError();
  if (error == ERROR_FILE_NOT_FOUND) return {};
  return windows_error(display_name(path), "cannot be deleted", error);
}

namespace {

bool identify(std::string_view path, BY_HANDLE_FILE_INFORMATION& out) {
  const auto wide = system_path(path);
  if (!wide.ok()) return false;
  const HANDLE file = CreateFileW(wide.value().c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                  nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return false;
  const bool known = GetFileInformationByHandle(file, &out) != 0;
  CloseHandle(file);
  return known;
}

}  // namespace

bool same_file(std::string_view a, std::string_view b) {
  BY_HANDLE_FILE_INFORMATION first = {}, second = {};
  return identify(a, first) && identify(b, second) && first.dwVolumeSerialNumber == second.dwVolumeSerialNumber &&
         first.nFileIndexHigh == second.nFileIndexHigh && first.nFileIndexLow == second.nFileIndexLow;
}

}  // namespace clef::io
