import { panelCtx } from "@/server/auth/session";
import { servePanel } from "@/server/trpc/serve";

const handle = (request: Request) => servePanel(request, panelCtx);

export { handle as GET, handle as POST };
