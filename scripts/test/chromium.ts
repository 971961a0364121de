import { existsSync } from "node:fs";

/** Debian's, the one without a window first: it takes two thirds of the other's time for a page. */
const DEBIAN = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** The Chromium of CHROMIUM_PATH, or Debian's. Undefined: neither is there, and Playwright looks for its own. */
export const chromiumPath = (): string | undefined =>
  process.env.CHROMIUM_PATH || DEBIAN.find((path) => existsSync(path));
