import { serveThread } from "@/server/platform/threads/thread-serve";
import { type PictureProcessing, type Processed, processPicture } from "./process";

export type PictureTask = { bytes: Uint8Array; wanted: PictureProcessing };
export type ImagingAnswer = { state: "done"; processed: Processed };

serveThread(
  async ({ bytes, wanted }: PictureTask): Promise<ImagingAnswer> => ({
    state: "done",
    processed: await processPicture(bytes, wanted),
  }),
);
