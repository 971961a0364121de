import { request as ask } from "undici";
import type { Slice } from "../programs/meter";

/** Asks the meter in a process (bench/programs/meter.ts, which listens on this port) for the longest slice of its event loop. */
export function meterAt(port: number) {
  const post = async (path: string) => {
    const answer = await ask(`http://127.0.0.1:${port}${path}`, { method: "POST" });
    return answer.body.text();
  };
  return {
    begin: async () => void (await post("/begin")),
    /** Waits until the process is calm again, and returns the longest slice since `begin`. */
    end: async () => JSON.parse(await post("/end")) as Slice, // meter.ts sends this type
  };
}
