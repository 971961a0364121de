import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocket } from "undici";

type FunctionCoverage = { functionName: string; ranges: { startOffset: number; count: number }[] };
type ScriptCoverage = { url: string; functions: FunctionCoverage[] };
type Source = { lineStarts: number[]; map: SourceMap };

/** Asks a Node process that was started with --inspect in which source files its functions ran. */
export async function openCoverage(inspectorPort: number) {
  const [target] = (await (await fetch(`http://127.0.0.1:${inspectorPort}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  if (!target) throw new Error("the process has no inspector");
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  let last = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  const send = (method: string, params = {}) =>
    new Promise<unknown>((resolve) => {
      waiting.set(++last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  await send("Profiler.enable");
  await send("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const sources = new Map<string, Source | null>();
  return {
    /** Returns the files of server, inngest and app with a function that ran since the last call. */
    async take(): Promise<Set<string>> {
      const { result } = (await send("Profiler.takePreciseCoverage")) as { result: ScriptCoverage[] };
      const files = new Set<string>();
      for (const { url, functions } of result) {
        if (!url.startsWith("file:")) continue;
        if (!sources.has(url)) sources.set(url, sourceOf(fileURLToPath(url)));
        const source = sources.get(url);
        if (!source) continue;
        for (const { ranges } of functions) {
          const [whole] = ranges;
          if (!whole || whole.count === 0 || whole.startOffset === 0) continue;
          const file = fileAt(source, whole.startOffset);
          if (file) files.add(file);
        }
      }
      return files;
    },
    close: () => socket.close(),
  };
}

function sourceOf(path: string): Source | null {
  if (!path.startsWith(resolve("dist"))) return null;
  const lineStarts = [0];
  const text = readFileSync(path, "utf8");
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lineStarts.push(at + 1);
  return { lineStarts, map: new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8"))) };
}

/** Finds the source file that a place of a bundle comes from; null if it is not in server, inngest or app. */
function fileAt({ lineStarts, map }: Source, offset: number): string | null {
  let [low, high] = [0, lineStarts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (lineStarts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  const entry = map.findEntry(low, offset - lineStarts[low]!);
  const source = "originalSource" in entry ? entry.originalSource : "";
  return /(?:^|\/)((?:server|inngest|app)\/.+)$/.exec(source)?.[1] ?? null;
}
