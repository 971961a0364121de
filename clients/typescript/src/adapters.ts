import type { Core, Schemas } from "./client";

type Fields = Omit<Schemas["ModelAdapterUploadInput"], "file">;

/** The fields of the form, and the file: a File of a browser, or of Node `await openAsBlob(path)` with its name. */
export type AdapterUpload = Fields & {
  file: Blob;
  filename?: string;
  projectId?: string;
  signal?: AbortSignal;
};

/** Sends the fields before the file, so that what is wrong with them is told before its bytes are sent. */
export async function uploadAdapter(
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
  return (await response.json()) as Schemas["ModelAdapter"]; // what the operation declares
}
