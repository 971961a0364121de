import type { z } from "zod";
import { campaign } from "@/testing/campaign";
import { IDS } from "@/testing/tenant-matrix/kinds";
import { filled, placesOf, toNode } from "@/testing/tenant-matrix/schema";
import type { Ask, Visit } from "./visit";

/*
 * All entry points from the code: endpoints, procedures of the panel, MCP tools, and operator commands. Each is probed with a
 * secret in a wrong place, and each whose fields are secrets must also be used properly. The small campaign makes one probe
 * per endpoint and per procedure, in turn.
 */

/** Names of fields, in snake case, whose values are secrets or that take or return one. */
const SECRET_FIELD =
  /^(secret|credentials(\.\*)?|api_key|user_code|device_code|\w*_?token|password|present|next|recovery_codes|weights_link)$/;

type Schemas = (z.ZodType | undefined)[];
const takesOrGives = (schemas: Schemas) =>
  schemas.some((schema) => schema && placesOf(toNode(schema)).some(({ name }) => SECRET_FIELD.test(name)));

type Procedure = { _def: { type: string; inputs: z.ZodType[]; output?: z.ZodType } };

async function proceduresOfPanel(): Promise<[name: string, Procedure["_def"]][]> {
  const { appRouter } = await import("@/server/trpc");
  const procedures = appRouter._def.procedures as unknown as Record<string, Procedure>; // the router's own types do not list them by name
  return Object.entries(procedures).map(([name, { _def }]) => [name, _def]);
}

/** Every entry point that takes or returns a secret, by the names of its fields; `Visit.passed` must have all of them. */
export async function doorsOfSecrets(): Promise<string[]> {
  const { endpoints } = await import("@/server/operations");
  const api = endpoints.filter(({ params, body, form, output }) =>
    takesOrGives([params, body, form, "rawMediaType" in output ? undefined : output]),
  );
  const panel = (await proceduresOfPanel()).filter(([, { inputs, output }]) =>
    takesOrGives([...inputs, output]),
  );
  return [
    ...api.map(({ method, path }) => `${method} ${path}`),
    ...panel.map(([name]) => `POST /api/trpc/${name}`),
  ];
}

/** The smallest valid value of a schema, with this text in the place of each id. */
function withIds(schema: z.ZodType, text: string): Record<string, unknown> {
  const node = toNode(schema);
  const known = (name: string) => (name in IDS ? text : "words");
  return placesOf(node)
    .filter(({ name, steps }) => name in IDS && steps.length === 1)
    .reduce<unknown>(
      (made, { steps }) => filled(node, made, known, { steps, value: text }),
      filled(node, undefined, known),
    ) as Record<string, unknown>; // these entry points take objects
}

/** Probes every endpoint with a secret as an id, in a query, a header, a cookie, an invalid body and wrong fields. */
export async function knockAtApi(
  { ask }: Visit,
  { key, cookie }: { key: string; cookie: string },
  pasted: string,
): Promise<void> {
  const { endpoints } = await import("@/server/operations");
  for (const [place, { method, path, queryFields, body, form }] of endpoints.entries()) {
    const target = path.replace(/\{\w+\}/g, encodeURIComponent(pasted));
    const query = new URLSearchParams(queryFields.map(({ name }): [string, string] => [name, pasted]));
    const knocks: [target: string, asked: Ask][] = [
      [target, { key }],
      [`${target}?${query}&access_token=${pasted}`, method === "GET" ? { key } : { cookie }],
      [target, { headers: { authorization: `Bearer ${pasted}` } }],
      [target, { headers: { authorization: `Basic ${btoa(`user:${pasted}`)}` } }],
      [target, { headers: { cookie: `capstan.session-token=${pasted}` } }],
    ];
    if (body || form)
      knocks.push(
        [target, { key, body: `{"secret": "${pasted}` }],
        [target, { key, body: { [pasted]: { [pasted]: pasted } } }],
        [target, { key, body: `"${pasted}"`, headers: { "content-type": "text/plain" } }],
        [target, { cookie, body: { projectId: pasted, organizationId: pasted, url: pasted } }],
      );
    for (const [where, asked] of campaign.inTurn(knocks, place)) await ask(method, where, asked);
  }
  await ask("POST", "/v1/delivery-endpoints", { key, body: `"${pasted.repeat(20_000)}"` });
  await ask("GET", `/v1/nothing/${pasted}`, { key });
  await ask("GET", `/page?token=${pasted}`);
}

/** Probes every procedure of the panel. `cookieNow` returns the cookie of a person whom a procedure may have signed out. */
export async function knockAtPanel(
  { ask, procedure }: Visit,
  cookieNow: (name: string) => Promise<string>,
  pasted: string,
): Promise<void> {
  for (const [place, [name, { type, inputs }]] of (await proceduresOfPanel()).entries()) {
    const given: unknown[] = [
      pasted,
      { [pasted]: pasted },
      ...inputs.map((schema) => withIds(schema, pasted)),
    ];
    for (const input of campaign.inTurn(given, place)) {
      const cookie = await cookieNow(name);
      if (type === "query")
        await ask("GET", `/api/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`, { cookie });
      else await procedure(name, input, { cookie });
      await procedure(name, input);
    }
  }
  await ask("GET", `/api/trpc/${pasted}.${pasted}`);
}

/** Probes every MCP tool, and an unknown one. */
export async function knockAtTools({ ask, tool }: Visit, key: string, pasted: string): Promise<void> {
  const { tools } = await import("@/server/api/mcp/call");
  for (const { name, input } of tools) {
    await tool(key, name, { [pasted]: pasted });
    await tool(key, name, withIds(input, pasted));
    await tool(pasted, name, {});
  }
  await tool(key, pasted, {});
  for (const body of [`{"secret": "${pasted}`, { jsonrpc: "2.0", id: 1, method: pasted }, { [pasted]: 1 }])
    await ask("POST", "/mcp", { key, headers: { accept: "application/json, text/event-stream" }, body });
}

/** Probes OpenAI's chat completions and responses. */
export async function knockAtModels({ ask }: Visit, key: string, pasted: string): Promise<void> {
  const messages = [{ role: "user", content: "How deep is the sea?" }];
  for (const [path, body] of [
    ["chat/completions", { model: pasted, messages }],
    ["chat/completions", { model: "text.general.fast.v1", messages, [pasted]: 1 }],
    ["chat/completions", { model: "text.general.fast.v1", messages, stream: true, tool_choice: pasted }],
    ["chat/completions", { model: `text.general.fast.v1@${pasted}`, messages, stream: true }],
    ["responses", { model: pasted, input: "How deep is the sea?" }],
    ["responses", { model: "text.general.fast.v1", input: [{ role: pasted, content: "x" }] }],
  ] as const) {
    await ask("POST", `/v1/${path}`, { key, body });
    await ask("POST", `/v1/${path}`, { key: pasted, body });
    await ask("POST", `/v1/${path}`, { key, body, headers: { "openai-project": pasted } });
  }
}

/** Probes every operator command, and keeps its output. */
export async function knockAtAdmin({ hear }: Visit, pasted: string): Promise<void> {
  const { COMMANDS, runAdmin } = await import("@/scripts/admin/command");
  const said = async (...args: string[]) => {
    const { out, error } = await runAdmin(args).catch((cause: Error) => ({ out: "", error: cause.stack }));
    hear(`admin ${args[0]} ${args[1]}`, `${out}\n${error}`);
  };
  for (const [command, flags] of Object.entries(COMMANDS)) {
    const words = command.split(" ");
    // Names, addresses and notes are left out, because they are stored and shown as given.
    const given = flags.filter(
      (flag) => flag !== "name" && flag !== "email" && flag !== "reason" && flag !== "note",
    );
    for (const flag of given) await said(...words, `--${flag}`, pasted);
    await said(...words, `--${pasted}`);
  }
  await said(pasted, pasted);
}
