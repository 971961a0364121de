import { serveThread } from "@/server/platform/threads/thread-serve";
import { render } from "./render";
import { Refused, type RenderingAnswer, type RenderTask } from "./request";

serveThread(
  ({ bytes, request }: RenderTask): Promise<RenderingAnswer> =>
    render(bytes, request).then(
      (rendered) => ({ state: "rendered", rendered }),
      (cause: unknown) => {
        if (!(cause instanceof Refused)) throw cause;
        return { state: "refused", message: cause.message };
      },
    ),
);
