// Pictures as SVG, small and without scripts.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "report.hpp"

namespace bench {
namespace {

constexpr const char* kColours[] = {"#1f6feb", "#d1570b", "#2d8a4e", "#8250df", "#bf3989", "#57606a"};
constexpr double kWidth = 640, kHeight = 360, kLeft = 64, kRight = 150, kTop = 40, kBottom = 48;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return "<text x=\"" + number("%.1f", x) + "\" y=\"" + number("%.1f", y) + "\" text-anchor=\"" + anchor + "\"" + more +
         ">" + escaped(text) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return "<line x1=\"" + number("%.1f", x1) + "\" y1=\"" + number("%.1f", y1) + "\" x2=\"" + number("%.1f", x2) +
         "\" y2=\"" + number("%.1f", y2) + "\" stroke=\"" + colour + "\"/>\n";
}

std::string begin(double height, const std::string& title) {
  const std::string size = "width=\"" + number("%.0f", kWidth) + "\" height=\"" + number("%.0f", height) + "\"";
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size +
         " font-family=\"sans-serif\" font-size=\"12\" fill=\"#24292f\">\n<rect " + size + " fill=\"#ffffff\"/>\n" +
         text_at(kWidth / 2, 22, "middle", title, " font-weight=\"bold\"");
}

// 1, 2 or 5 times a power of ten, four to eight of them up to `largest`.
double step_for(double largest) {
  const double power = std::pow(10, std::floor(std::log10(largest / 4)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (largest / (power * factor) <= 6) return power * factor;
  return power * 10;
}

}  // namespace

std::string line_chart(const std::string& title, const std::string& x_title, const std::string& y_title,
                       const std::vector<Series>& series) {
  std::vector<double> xs;
  double largest = 0;
  for (const Series& each : series) {
    xs.insert(xs.end(), each.x.begin(), each.x.end());
    for (const double y : each.y) largest = std::max(largest, y);
  }
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  std::string out = begin(kHeight, title);
  if (xs.empty() || !(largest > 0)) return out + "</svg>\n";
  const double step = step_for(largest), top = std::ceil(largest / step) * step;
  const double low = std::log2(xs.front()), high = std::max(std::log2(xs.back()), low + 1e-9);
  const auto place_x = [&](double x) {
    const double share = xs.size() == 1 ? 0.5 : (std::log2(x) - low) / (high - low);
    return kLeft + share * (kWidth - kLeft - kRight);
  };
  const auto place_y = [&](double y) { return kHeight - kBottom - y / top * (kHeight - kTop - kBottom); };
  for (double y = 0; y <= top * 1.0001; y += step) {
    out += line(kLeft, place_y(y), kWidth - kRight, place_y(y), "#d8dee4");
    out += text_at(kLeft - 8, place_y(y) + 4, "end", number("%g", y));
  }
  for (const double x : xs) out += text_at(place_x(x), kHeight - kBottom + 18, "middle", number("%g", x));
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - 10, "middle", x_title);
  out += text_at(16, kTop - 8, "start", y_title);
  for (size_t i = 0; i < series.size(); ++i) {
    const std::string colour = kColours[i % std::size(kColours)];
    std::string points, dots;
    for (size_t k = 0; k < series[i].x.size(); ++k) {
      const std::string x = number("%.1f", place_x(series[i].x[k])), y = number("%.1f", place_y(series[i].y[k]));
      points += (k > 0 ? " " : "") + x + "," + y;
      dots += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"3\" fill=\"" + colour + "\"/>\n";
    }
    out += "<polyline fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"2\" points=\"" + points + "\"/>\n" + dots;
    const double y = kTop + 12 + 18 * static_cast<double>(i);
    out += line(kWidth - kRight + 12, y - 4, kWidth - kRight + 30, y - 4, colour.c_str());
    out += text_at(kWidth - kRight + 36, y, "start", series[i].name);
  }
  return out + "</svg>\n";
}

std::string bar_chart(const std::string& title, const std::vector<Bar>& bars) {
  constexpr double kRow = 20, kNames = 190, kTexts = 110;
  double largest = 0;
  for (const Bar& bar : bars) largest = std::max(largest, bar.value);
  std::string out = begin(kTop + kRow * static_cast<double>(bars.size()) + 12, title);
  for (size_t i = 0; i < bars.size(); ++i) {
    const double y = kTop + kRow * static_cast<double>(i);
    const double width = largest > 0 ? bars[i].value / largest * (kWidth - kNames - kTexts) : 0;
    out += text_at(kNames - 8, y + 13, "end", bars[i].name);
    out += "<rect x=\"" + number("%.1f", kNames) + "\" y=\"" + number("%.1f", y + 3) + "\" width=\"" +
           number("%.1f", width) + "\" height=\"14\" fill=\"" + kColours[0] + "\"/>\n";
    out += text_at(kNames + width + 6, y + 13, "start", bars[i].text);
  }
  return out + "</svg>\n";
}

}  // namespace bench
