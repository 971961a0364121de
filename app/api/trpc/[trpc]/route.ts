import { answered } from "@/server/auth/guard";
import { servePanel } from "@/server/auth/panel-door";
import { panelCtx } from "@/server/auth/session";

const handle = (request: Request) => answered(() => servePanel(request, panelCtx));

export { handle as GET, handle as POST };
