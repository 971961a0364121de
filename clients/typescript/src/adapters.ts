import type { Core, Schemas } from "./core";

type Fields = Omit<Schemas["ModelAdapterUpload"], "file">;

/** The fields of the upload form and its file: a File in a browser; in Node, `await openAsBlob(path)` with `filename`. */
export type AdapterUpload = Fields & {
  file: Blob;
  filename?: string;
  projectId?: string;
  signal?: AbortSignal;
};

/** Sends the fields before the file, so that errors in them are reported before the file is sent. */
export async function sendAdapter(
  core: Core,
  { file, filename = "weights.safetensors", projectId = core.projectId, signal, ...fields }: AdapterUpload,
): Promise<Schemas["ModelAdapter"]> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of [value ?? []].flat()) form.append(name, String(each));
  }
  form.append("file", file, "name" in file && typeof file.name === "string" ? file.name : filename);
  const query = projectId === undefined ? "" : `?projectId=${encodeURIComponent(projectId)}`;
  const response = await core.transport(
    new Request(`${core.base}/v1/adapters/upload${query}`, {
      method: "POST",
      body: form,
      credentials: "omit",
      signal: signal ?? null,
    }),
  );
  return (await response.json()) as Schemas["ModelAdapter"]; // the operation declares this type
}
