// The order matters, because most browsers also name those they descend from.
const BROWSERS: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(Chrome|CriOS|Chromium|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/\biPad\b/, "iPad"],
  [/\biPhone\b/, "iPhone"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** Returns a label for a browser from its User-Agent, such as "Firefox on Linux". */
export function browserLabel(userAgent: string | null | undefined): string {
  const find = (known: [RegExp, string][]) => known.find(([form]) => form.test(userAgent ?? ""))?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  return [browser ?? "A browser", ...(system ? ["on", system] : [])].join(" ");
}
