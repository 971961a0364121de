export const TEXT = "text.general.fast.v1";
export const IMAGE = "image.generate.v1";
export const at = (key: string, what = "jobs") => `/v1/capabilities/${key}/${what}`;
export const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
export const fields = (answer: { json: { detail: { loc: string[] }[] } }) =>
  answer.json.detail.map(({ loc }) => loc.join("."));
