import { quoted } from "./cli";

/** An API request, as far as generated code needs it. */
export type ApiRequest = { origin: string; path: string; body: unknown; stream?: boolean };

const KEY = "CAPSTAN_API_KEY";

/**
 * The request as a shell command, in TypeScript and in Python. The code reads the key from the environment and never
 * contains it.
 */
export const snippetsOf = (request: ApiRequest) => ({
  curl: toCurl(request),
  typescript: toTypeScript(request),
  python: toPython(request),
});
/** Code that runs a capability with the TypeScript client. */
export const clientCodeOf = (capability: string, input: unknown, baseUrl: string) =>
  `import { createClient } from ${JSON.stringify("@capstan/client")};

const client = createClient({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: process.env.${KEY} });
const { output, receipt, artifacts } = await client.runAndWait(
  ${JSON.stringify(capability)},
  ${indent(JSON.stringify(input, null, 2), 2)},
);
console.log(output);
`;

export type Language = keyof ReturnType<typeof snippetsOf>;

const accept = ({ stream }: ApiRequest) => (stream ? "text/event-stream" : null);

function toCurl(request: ApiRequest): string {
  return [
    `curl ${request.stream ? "-N " : ""}${quoted(`${request.origin}${request.path}`)}`,
    `-H "Authorization: Bearer $${KEY}"`,
    "-H 'Content-Type: application/json'",
    ...(accept(request) ? [`-H 'Accept: ${accept(request)}'`] : []),
    `-d ${quoted(JSON.stringify(request.body, null, 2))}`,
  ].join(" \\\n  ");
}

function toTypeScript(request: ApiRequest): string {
  const answer = request.stream
    ? `const text = response.body!.pipeThrough(new TextDecoderStream());
for await (const chunk of text) process.stdout.write(chunk);`
    : "console.log(await response.json());";
  return `const response = await fetch(${JSON.stringify(`${request.origin}${request.path}`)}, {
  method: "POST",
  headers: {
    authorization: \`Bearer \${process.env.${KEY}}\`,
    "content-type": "application/json",${accept(request) ? `\n    accept: "${accept(request)}",` : ""}
  },
  body: JSON.stringify(${indent(JSON.stringify(request.body, null, 2), 2)}),
});
if (!response.ok) throw new Error(await response.text());
${answer}
`;
}

function toPython(request: ApiRequest): string {
  const headers = [
    `        "Authorization": "Bearer " + os.environ["${KEY}"],`,
    `        "Content-Type": "application/json",`,
    ...(accept(request) ? [`        "Accept": "${accept(request)}",`] : []),
  ];
  const answer = request.stream
    ? `with urllib.request.urlopen(request) as response:
    for line in response:
        print(line.decode(), end="")`
    : `with urllib.request.urlopen(request) as response:
    print(json.load(response))`;
  return `import json
import os
import urllib.request

body = ${indent(pythonLiteral(request.body, 0), 0)}

request = urllib.request.Request(
    ${JSON.stringify(`${request.origin}${request.path}`)},
    data=json.dumps(body).encode(),
    headers={
${headers.join("\n")}
    },
)
${answer}
`;
}

const indent = (text: string, spaces: number) => text.replaceAll("\n", `\n${" ".repeat(spaces)}`);

/** A JSON value as Python source. */
function pythonLiteral(value: unknown, depth: number): string {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  const [pad, end] = ["    ".repeat(depth + 1), "    ".repeat(depth)];
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((each) => `${pad}${pythonLiteral(each, depth + 1)},`).join("\n")}\n${end}]`;
  }
  if (typeof value === "object") {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    if (entries.length === 0) return "{}";
    return `{\n${entries.map(([name, each]) => `${pad}${pythonString(name)}: ${pythonLiteral(each, depth + 1)},`).join("\n")}\n${end}}`;
  }
  return typeof value === "string" ? pythonString(value) : String(value);
}

/** JSON escapes are valid in Python, except lone surrogates, which JSON.stringify escapes itself. */
const pythonString = (text: string) => JSON.stringify(text);
