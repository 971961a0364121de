import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { render } from "../render";
import type { RenderRequest } from "../request";

/* Draws a file in a process of its own and sends the hashes of its pictures. */
const [, , path = ""] = process.argv;
process.once("message", async (request: RenderRequest) => {
  const { views, sheet } = await render(new Uint8Array(readFileSync(path)), request);
  const hashes = [...views, sheet].map((file) =>
    createHash("sha256")
      .update(file?.png ?? "")
      .digest("hex"),
  );
  process.send?.(hashes);
  process.disconnect();
});
