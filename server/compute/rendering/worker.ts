import { serve } from "@/server/platform/threads/thread-serve";
import { render } from "./render";
import { type Answer, Refused, type RenderTask } from "./request";

serve(
  ({ bytes, request }: RenderTask): Promise<Answer> =>
    render(bytes, request).then(
      (rendered) => ({ state: "rendered", rendered }),
      (cause: unknown) => {
        if (!(cause instanceof Refused)) throw cause;
        return { state: "refused", message: cause.message };
      },
    ),
);
