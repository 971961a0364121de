import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { PortServer } from "./ports/define";

/* Work on ports that answer later. The work is kept on disk, so that a restarted sandbox still knows it. */

const Work = z.object({
  path: z.string(),
  body: z.string(),
  isEmpty: z.boolean(),
  fails: z.boolean(),
  takenAt: z.number(),
  readyAt: z.number(),
});
type Work = z.output<typeof Work>;

export type Workshop = {
  take(id: string, work: Omit<Work, "takenAt">): void;
  /** The status of the work; null if there is none of this id. */
  look(id: string): Promise<object | null>;
};

const MOST_REMEMBERED = 16;

/** Opens the folder `work` of a data directory. */
export function openWorkshop(dataDir: string, portOf: (path: string) => PortServer | undefined): Workshop {
  const folder = join(dataDir, "work");
  const fileOf = (id: string) => join(folder, `${id}.json`);
  /** Recent answers, newest last. */
  const answers = new Map<string, object>();

  async function answerOf(id: string, { path, body, isEmpty }: Work): Promise<object> {
    const known = answers.get(id);
    if (known) return known;
    const request = portOf(path)?.read(body);
    if (!request) return { id, status: "failed" };
    const made = isEmpty ? request.empty() : await request.answer();
    const answer = { id, model: request.model, status: "done", ...made };
    answers.set(id, answer);
    const [oldest] = answers.keys();
    if (answers.size > MOST_REMEMBERED && oldest) answers.delete(oldest);
    return answer;
  }

  return {
    take(id, work) {
      if (existsSync(fileOf(id))) return; // the same request again does not restart its work
      mkdirSync(folder, { recursive: true });
      writeFileSync(fileOf(id), JSON.stringify({ ...work, takenAt: Date.now() }), { mode: 0o600 });
    },
    async look(id) {
      if (!existsSync(fileOf(id))) return null;
      const work = Work.parse(JSON.parse(readFileSync(fileOf(id), "utf8")));
      const now = Date.now();
      if (now < work.readyAt) {
        const whole = work.readyAt - work.takenAt;
        const percent = whole > 0 ? Math.floor((100 * (now - work.takenAt)) / whole) : 0;
        return { id, status: "working", percent };
      }
      return work.fails ? { id, status: "failed" } : answerOf(id, work);
    },
  };
}
