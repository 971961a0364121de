import { serve } from "@/server/platform/threads/thread-serve";
import { type Processed, type Processing, processPicture } from "./process";

export type PictureTask = { bytes: Uint8Array; wanted: Processing };
export type Answer = { state: "done"; processed: Processed };

serve(
  async ({ bytes, wanted }: PictureTask): Promise<Answer> => ({
    state: "done",
    processed: await processPicture(bytes, wanted),
  }),
);
