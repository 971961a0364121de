import { bytes, HERE, idOf, json, type MadeCase, type MadeExpected, page } from "../made";
import { MESH, PICTURE } from "../made-files";

/*
 * Queues: work is submitted, polled, and its files are fetched. fal and Replicate at 25,000 micros a picture, Meshy at
 * 600,000.
 */

const FILE = bytes(PICTURE, "image/png");
const fileOf = (name: string) => `${HERE}/files/${name}/1.png`;
const made: MadeExpected = { files: 1, mediaType: "image/png", cost: 25_000 };
const FULL: MadeExpected = { fails: "ProviderUnavailable", hold: "released", isSafe: true };
const WAITS = { headers: { "retry-after": "3600" } };
const FAILED: MadeExpected = { fails: "PROVIDER_ERROR", hold: "released" };
/** The outcome of the work is unknown. */
const UNKNOWN: MadeExpected = { hold: "ambiguous", submission: "attempted", fails: "ExecutionTimeout" };

type Queue = Pick<MadeCase, "name" | "from" | "expect"> & { plays?: MadeCase["plays"] };

// ---- fal

const COMPLETED = json({ status: "COMPLETED" });
const fal = ({ plays, ...more }: Queue): MadeCase => ({
  ...more,
  maker: "fal",
  plays: {
    submit: json({ request_id: more.name, status: "IN_QUEUE" }),
    status: [json({ status: "IN_QUEUE", queue_position: 2 }), json({ status: "IN_PROGRESS" }), COMPLETED],
    result: json({
      images: [{ url: fileOf(more.name), content_type: "image/png" }],
      has_nsfw_concepts: [false],
    }),
    file: FILE,
    ...plays,
  },
});

// ---- Replicate, whose ids have no hyphens

const prediction = (name: string, members: object) =>
  json({ id: idOf(name), model: "upstream/one", error: null, output: null, ...members });
const replicate = ({ plays, ...more }: Queue): MadeCase => ({
  ...more,
  maker: "replicate",
  plays: {
    submit: prediction(more.name, { status: "starting" }),
    status: [
      prediction(more.name, { status: "processing", logs: "40%|====" }),
      prediction(more.name, { status: "succeeded", output: [fileOf(more.name)] }),
    ],
    file: FILE,
    ...plays,
  },
});

// ---- Meshy

const task = (members: object) => json({ id: "t1", ai_model: "meshy-6", progress: 50, ...members });
const meshy = ({ plays, ...more }: Queue): MadeCase => ({
  ...more,
  maker: "meshy",
  plays: {
    submit: json({ result: more.name }),
    status: [
      task({ status: "IN_PROGRESS" }),
      task({ status: "SUCCEEDED", model_urls: { glb: fileOf(more.name) }, task_error: { message: "" } }),
    ],
    file: bytes(MESH, "model/gltf-binary"),
    ...plays,
  },
});
const mesh: MadeExpected = { files: 1, mediaType: "model/gltf-binary", cost: 600_000 };

export const QUEUES: readonly MadeCase[] = [
  fal({ name: "fal-plain", from: ["https://docs.fal.ai/model-endpoints/queue"], expect: made }),
  fal({
    name: "fal-full-with-200",
    from: ["nodetool-ai/nodetool#5755"],
    plays: { submit: json({ error: { code: 429, message: "Too many requests." } }, WAITS) },
    expect: { ...FULL, said: { code: null, message: "Too many requests." } },
  }),
  fal({
    name: "fal-state-says-failed",
    from: ["TanStack/ai#394", "kyh/vibedgames#182"],
    plays: { status: json({ status: "FAILED", error: "Out of memory." }) },
    expect: { ...FAILED, said: { code: "FAILED", message: "Out of memory." } },
  }),
  fal({
    name: "fal-state-is-new",
    from: ["TanStack/ai#396"],
    plays: { status: [json({ status: "DREAMING" }), json({}), COMPLETED] },
    expect: made,
  }),
  fal({
    name: "fal-completed-with-error",
    from: ["fal-ai/fal#1143"],
    plays: {
      status: json({ status: "COMPLETED", error: "Runner died.", error_type: "runner_disconnected" }),
      result: { status: 500, body: { detail: "Internal Server Error" } },
    },
    expect: FAILED,
  }),
  fal({
    name: "fal-result-is-refusal",
    from: ["TanStack/ai#396", "mutonby/openshorts#39"],
    plays: {
      result: {
        status: 422,
        body: { detail: [{ loc: ["body", "prompt"], msg: "Too long.", type: "value_error" }] },
      },
    },
    expect: { fails: "ProviderRejected", cost: 0, isSafe: true },
  }),
  fal({
    name: "fal-result-against-policy",
    from: ["TanStack/ai#396"],
    plays: { result: { status: 422, body: { detail: [{ msg: "No.", type: "content_policy_violation" }] } } },
    expect: { fails: "ProviderRejected", cost: 0, isSafe: true },
  }),
  fal({
    name: "fal-result-is-error-with-200",
    from: ["mutonby/openshorts#39"],
    plays: { result: json({ error: { message: "The model crashed." } }) },
    expect: { ...FAILED, said: { code: null, message: "The model crashed." } },
  }),
  fal({
    name: "fal-no-pictures",
    from: ["gokayfem/ComfyUI-fal-API#4"],
    plays: { result: json({ images: [] }) },
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", cost: 0 },
  }),
  fal({
    name: "fal-black-picture",
    from: ["gokayfem/ComfyUI-fal-API#4"],
    plays: { result: json({ images: [{ url: fileOf("fal-black-picture") }], has_nsfw_concepts: [true] }) },
    expect: { fails: "ProviderRejected", cost: 25_000 },
  }),
  fal({
    name: "fal-empty-file",
    from: ["kdr/overcast#93"],
    plays: { file: bytes(Buffer.alloc(0), "image/png") },
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", cost: 25_000 },
  }),
  fal({
    name: "fal-file-is-a-page",
    from: ["kdr/overcast#93"],
    plays: { file: page(200) },
    expect: { fails: "PROVIDER_ERROR", cost: 25_000 },
  }),
  fal({
    name: "fal-file-comes-later",
    from: ["kdr/overcast#93"],
    plays: { file: [page(503), FILE] },
    expect: made,
  }),
  fal({
    name: "fal-polls-fail-for-a-while",
    from: ["mutonby/openshorts#39", "kdr/overcast#93"],
    plays: { status: [page(502), page(200), { status: 429, body: { detail: "Slow down." } }, COMPLETED] },
    expect: made,
  }),
  fal({
    name: "fal-polls-fail-for-ever",
    from: ["mutonby/openshorts#39"],
    plays: { status: page(200) },
    expect: UNKNOWN,
  }),
  replicate({ name: "replicate-plain", from: ["https://replicate.com/docs/reference/http"], expect: made }),
  replicate({
    name: "replicate-aborted",
    from: ["replicate/replicate-python#449", "replicate/replicate-python#460"],
    plays: { status: prediction("replicate-aborted", { status: "aborted" }) },
    expect: FAILED,
  }),
  replicate({
    name: "replicate-failed",
    from: ["AIProxyTeam/AIProxySwift#27"],
    plays: { status: prediction("replicate-failed", { status: "failed", error: "CUDA out of memory" }) },
    expect: { ...FAILED, said: { code: null, message: "CUDA out of memory" } },
  }),
  replicate({
    name: "replicate-state-says-error",
    from: ["replicate/replicate-python#460"],
    plays: { status: prediction("replicate-state-says-error", { status: "errored", error: "It broke." }) },
    expect: { ...FAILED, said: { code: "errored", message: "It broke." } },
  }),
  replicate({
    name: "replicate-succeeded-without-output",
    from: ["replicate/replicate-python#460"],
    plays: { status: prediction("replicate-succeeded-without-output", { status: "succeeded" }) },
    expect: FAILED,
  }),
  replicate({
    name: "replicate-succeeded-with-nothing",
    from: ["replicate/inpainter#7"],
    plays: { status: prediction("replicate-succeeded-with-nothing", { status: "succeeded", output: [] }) },
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", cost: 0 },
  }),
  replicate({
    name: "replicate-unfit",
    from: ["replicate/inpainter#7"],
    plays: { status: prediction("replicate-unfit", { status: "failed", error: "NSFW content detected." }) },
    expect: { fails: "ProviderRejected", cost: 0, isSafe: true },
  }),
  replicate({
    name: "replicate-error-with-200",
    from: ["nodetool-ai/nodetool#5755"],
    plays: { submit: json({ error: { code: 503, message: "Upstream down." } }) },
    expect: { ...FAILED, said: { code: null, message: "Upstream down." } },
  }),
  replicate({
    name: "replicate-polls-fail-for-a-while",
    from: ["AIProxyTeam/AIProxySwift#27"],
    plays: {
      status: [
        page(200),
        page(500),
        prediction("replicate-polls-fail-for-a-while", { status: "waking_up" }),
        prediction("replicate-polls-fail-for-a-while", {
          status: "succeeded",
          output: fileOf("replicate-polls-fail-for-a-while"),
        }),
      ],
    },
    expect: made,
  }),
  meshy({ name: "meshy-plain", from: ["https://docs.meshy.ai/en/api/image-to-3d"], expect: mesh }),
  meshy({
    name: "meshy-state-says-failed",
    from: ["https://docs.meshy.ai/en/api/errors"],
    plays: { status: task({ status: "TIMEOUT_FAILED", task_error: { message: "Took too long." } }) },
    expect: FAILED,
  }),
  meshy({
    name: "meshy-without-file",
    from: ["https://docs.meshy.ai/en/api/image-to-3d"],
    plays: { status: task({ status: "SUCCEEDED", model_urls: {} }) },
    expect: FAILED,
  }),
  meshy({
    name: "meshy-polls-fail-for-a-while",
    from: ["https://docs.meshy.ai/en/api/errors"],
    plays: {
      status: [
        page(502),
        page(200),
        task({ status: "SUCCEEDED", model_urls: { glb: fileOf("meshy-polls-fail-for-a-while") } }),
      ],
    },
    expect: mesh,
  }),
  meshy({
    name: "meshy-file-is-a-page",
    from: ["https://docs.meshy.ai/en/api/image-to-3d"],
    plays: { file: page(200) },
    expect: { fails: "PROVIDER_ERROR", cost: 600_000 },
  }),
];
