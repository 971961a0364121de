import { setTimeout as sleep } from "node:timers/promises";
import { request as ask } from "undici";
import { freePort } from "../../scripts/launch/system";
import { openCoverage } from "../rig/entered";
import { openWal, type Written } from "../rig/wal";
import { countTraffic, type Traffic } from "../rig/wire";
import type { World } from "../rig/world";
import type { Bench } from "./context";

/*
 * Counts what one execution of each kind costs, in numbers that do not depend on the machine: statements and round trips of web
 * and worker, rows, index entries and bytes of the write-ahead log, source files entered. Each kind runs several times and the
 * least number counts, because the processes also do their periodic work.
 */

const ITEMS = 20;
const DURABLE = "durable job, from submit to receipt";
const TEXT = "text.general.fast.v1";
const PIN = { provider: "sandbox", model: "sandbox-1", api: "responses" };
const messages = [{ role: "user", content: "How deep is the sea?" }];

type Counts = Traffic & Written;
type Measured = Counts & { files: number; domainFiles: number };
/**
 * The files of server/domain whose functions ran for one execution, per process: web from the request on, the worker from its
 * claim on.
 */
type Entered = [web: Set<string>, worker: Set<string>];
type Kind = { name: string; run(number: number): Promise<void> };

export async function measureCounts(bench: Bench): Promise<void> {
  const { world, plan, say } = bench;
  const projectId = world.projects[0] ?? "";
  const traffic = await countTraffic(world.postgres.url);
  const wal = await openWal(world.superuserUrl);
  const [webInspector, workerInspector] = [await freePort(), await freePort()];
  const sandbox = await world.startSandbox();
  const env = { SANDBOX: "1", SANDBOX_URL: sandbox.url, DATABASE_URL: traffic.url };
  const web = await world.startPart("web", world.upstream.url, [`--inspect=127.0.0.1:${webInspector}`], env);
  const worker = await world.startPart(
    "worker",
    world.upstream.url,
    [`--inspect=127.0.0.1:${workerInspector}`],
    env,
  );
  await sleep(3_000); // the worker begins to listen meanwhile
  const coverage = { web: await openCoverage(webInspector), worker: await openCoverage(workerInspector) };

  const post = async (path: string, body: object, accept = "application/json") => {
    const answer = await ask(`${web.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json", accept },
      body: JSON.stringify(body),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`POST ${path}: ${answer.statusCode} ${text}`);
    return text;
  };
  const execution = { context: { projectId }, input: { messages } };
  const items = (count: number) =>
    Array.from({ length: count }, (_, number) => ({ id: `item-${number}`, input: "How deep is the sea?" }));
  const bulk = async (count: number) => {
    const body = { context: { projectId }, pin: PIN, items: items(count) };
    const { bulkId } = JSON.parse(await post("/v1/inference/pinned/bulk", body)) as { bulkId: string };
    await untilEnded(world, "SELECT status FROM pinned_bulk WHERE id = $1", bulkId);
  };
  const kinds: Kind[] = [
    {
      name: "invoke",
      run: async () => void (await post(`/v1/capabilities/${TEXT}/invoke`, execution)),
    },
    {
      name: "stream",
      run: async () =>
        void (await post(
          `/v1/capabilities/${TEXT}/invoke`,
          { ...execution, executionMode: "Stream" },
          "text/event-stream",
        )),
    },
    {
      name: DURABLE,
      async run() {
        const answer = await post(`/v1/capabilities/${TEXT}/jobs`, execution);
        const { jobId } = JSON.parse(answer) as { jobId: string };
        await untilEnded(world, "SELECT status FROM job WHERE id = $1", jobId);
      },
    },
    {
      name: "pinned execution",
      run: async () =>
        void (await post("/v1/inference/pinned", {
          context: { projectId },
          pin: PIN,
          input: "How deep is the sea?",
        })),
    },
    { name: "bulk of one item", run: () => bulk(1) },
    { name: `bulk of ${ITEMS + 1} items`, run: () => bulk(ITEMS + 1) },
    {
      name: "page of 50 jobs",
      async run() {
        const answer = await ask(`${web.url}/v1/jobs?projectId=${projectId}&limit=50`, {
          headers: { authorization: `Bearer ${world.apiKey}` },
        });
        if (answer.statusCode !== 200) throw new Error(`GET /v1/jobs: ${await answer.body.text()}`);
        await answer.body.dump();
      },
    },
  ];

  async function once(kind: Kind, number: number): Promise<{ measured: Measured; entered: Entered }> {
    await Promise.all([coverage.web.take(), coverage.worker.take()]);
    const began = await wal.now();
    traffic.take();
    await kind.run(number);
    await sleep(150); // lets the writes after the answer finish
    const counted = { ...traffic.take(), ...(await wal.since(began)) };
    const [ofWeb, ofWorker] = await Promise.all([coverage.web.take(), coverage.worker.take()]);
    const all = new Set([...ofWeb, ...ofWorker]);
    const entered: Entered = [ofDomain(ofWeb), ofDomain(ofWorker)];
    const measured = { ...counted, files: all.size, domainFiles: ofDomain(all).size };
    return { measured, entered };
  }

  const table = new Map<string, Measured>();
  for (const kind of kinds) {
    say(`counts: ${kind.name}`);
    await once(kind, -1);
    await once(kind, -2);
    const tries: Awaited<ReturnType<typeof once>>[] = [];
    for (let number = 0; number < plan.tries; number++) tries.push(await once(kind, number));
    const least = leastOf(tries.map(({ measured }) => measured));
    table.set(kind.name, least);
    bench.floors.push({ what: kind.name, value: lineOf(least) });
    if (kind.name === DURABLE)
      tellPath(
        say,
        tries.map(({ entered }) => entered),
      );
  }
  const [one, many] = [table.get("bulk of one item"), table.get(`bulk of ${ITEMS + 1} items`)];
  if (one && many)
    bench.floors.push({ what: "each further item of a bulk", value: lineOf(perItem(one, many)) });
  coverage.web.close();
  coverage.worker.close();
  await worker.running.stop();
  await web.running.stop();
  await sandbox.running.stop();
  await wal.close();
  traffic.close();
}

const ofDomain = (files: Set<string>) =>
  new Set([...files].filter((file) => file.startsWith("server/domain/")));

/**
 * Prints the files that every try of a durable job entered; periodic work, which only some tries have, is left out
 * (docs/architecture/execution.md).
 */
function tellPath(say: Bench["say"], tries: Entered[]): void {
  const inAll = (place: 0 | 1) =>
    [...(tries[0]?.[place] ?? [])]
      .filter((file) => tries.every((entered) => entered[place].has(file)))
      .sort();
  const [web, worker] = [inAll(0), inAll(1)];
  say(`durable job: ${new Set([...web, ...worker]).size} files of the domain from submit to receipt`);
  say(`durable job: ${worker.length} from claim to receipt\n${worker.join("\n")}`);
  say(`durable job: ${web.length} in web\n${web.join("\n")}`);
}

async function untilEnded({ database }: World, sql: string, id: string): Promise<void> {
  for (let asked = 0; asked < 600; asked++) {
    const { rows } = await database.query<{ status: string }>(sql, [id]);
    if (["succeeded", "partial", "failed", "canceled"].includes(rows[0]?.status ?? "")) return;
    await sleep(20);
  }
  throw new Error(`${id} does not end`);
}

const FIELDS = [
  "statements",
  "roundTrips",
  "inserted",
  "updated",
  "deleted",
  "indexEntries",
  "walBytes",
  "files",
  "domainFiles",
] as const;

const mapped = (of: (field: (typeof FIELDS)[number]) => number) =>
  Object.fromEntries(FIELDS.map((field) => [field, of(field)])) as Measured; // FIELDS are the keys of Measured

const leastOf = (tries: Measured[]) => mapped((field) => Math.min(...tries.map((one) => one[field])));

const perItem = (one: Measured, many: Measured) =>
  mapped((field) =>
    field.endsWith("iles") ? many[field] : Math.round(((many[field] - one[field]) / ITEMS) * 100) / 100,
  );

const lineOf = (counts: Measured) =>
  `${counts.statements} statements in ${counts.roundTrips} round trips; rows ${counts.inserted} inserted, ${counts.updated} updated, ${counts.deleted} deleted; ${counts.indexEntries} index entries; ${counts.walBytes} bytes of WAL; ${counts.files} files entered, ${counts.domainFiles} of them in server/domain`;
