import { existsSync } from "node:fs";

/** Debian's builds. The one without a window comes first: it takes two thirds of the other's time for a page. */
const DEBIAN = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/**
 * Path of the Chromium of CHROMIUM_PATH, or of Debian's; undefined when neither is set or installed, and Playwright then looks
 * for its own.
 */
export const chromiumPath = (): string | undefined =>
  process.env.CHROMIUM_PATH || DEBIAN.find((path) => existsSync(path));
