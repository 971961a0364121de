import { servePanel } from "@/server/auth/panel-door";
import { panelCtx } from "@/server/auth/session";

const handle = (request: Request) => servePanel(request, panelCtx);

export { handle as GET, handle as POST };
