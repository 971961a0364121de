"use client";
import { useCallback, useEffect, useRef, useState } from "react";
import { UNREACHABLE } from "@/components/data/unreachable";
import type { EmbedBootstrap, ExchangedEmbedSession } from "@/server/contract/embeds";
import { type PanelApi, panelApi, Refusal } from "./api";
import { type FromHost, PROTOCOL, readFromHost, type ToHost } from "./protocol";

type Session =
  | { state: "waiting" }
  | { state: "open"; api: PanelApi; bootstrap: EmbedBootstrap }
  | { state: "ended"; message: string };

const EXPIRED = "This session has ended. Reload the page to continue.";

/**
 * This frame's session and its messages with the host page. The token arrives in a message from an origin the session
 * is bound to, or in exchange for a code in the URL. It is held in memory only, and the code is removed from the URL
 * before it is used.
 */
export function useSession(onHost: (message: FromHost) => void) {
  const [session, setSession] = useState<Session>({ state: "waiting" });
  /** The origins that receive messages: the one that sent the session, or those it is bound to. */
  const hosts = useRef<string[]>([]);
  const asked = useRef(onHost);
  asked.current = onHost;

  const tell = useCallback((message: ToHost) => {
    if (window.parent === window) return;
    // Any page that frames this one may learn that it has loaded; everything else goes to its hosts only.
    const targets = message.type === "hello" ? ["*"] : hosts.current;
    for (const origin of targets) window.parent.postMessage({ protocol: PROTOCOL, ...message }, origin);
  }, []);

  const end = useCallback(
    (message = EXPIRED) => {
      setSession({ state: "ended", message });
      tell({ type: "error", category: "session_expired", message });
    },
    [tell],
  );

  const begin = useCallback(
    async (token: string, from: string | null) => {
      const api = panelApi(token);
      try {
        const bootstrap = await api.json<EmbedBootstrap>("/v1/panel/bootstrap");
        const { allowedOrigins, sessionId, expiresAt } = bootstrap.session;
        // A page outside the session's origins may hold its token; it is refused here too.
        if (from !== null && !allowedOrigins.includes(from)) return;
        hosts.current = from === null ? allowedOrigins : [from];
        setSession({ state: "open", api, bootstrap });
        tell({ type: "ready", sessionId, expiresAt });
      } catch (cause) {
        const hasEnded = cause instanceof Refusal && cause.status === 401;
        if (from !== null) hosts.current = [from];
        if (hasEnded) return end();
        const message = cause instanceof Refusal ? cause.message : UNREACHABLE;
        setSession({ state: "ended", message });
        tell({ type: "error", category: "unavailable", message });
      }
    },
    [end, tell],
  );

  useEffect(() => {
    const onMessage = ({ source, origin, data }: MessageEvent) => {
      if (source !== window.parent || window.parent === window) return;
      const message = readFromHost(data);
      if (message?.type === "session") void begin(message.token, origin);
      else if (message && hosts.current.includes(origin)) asked.current(message);
    };
    window.addEventListener("message", onMessage);
    const code = new URLSearchParams(window.location.hash.slice(1)).get("code");
    if (code) {
      window.history.replaceState(null, "", window.location.pathname + window.location.search);
      panelApi(null)
        .json<ExchangedEmbedSession>("/v1/panel/launch-codes/exchange", { code })
        .then(({ accessToken }) => begin(accessToken, null))
        .catch(() => end("This link has expired or was already used. Open the embed again."));
    } else tell({ type: "hello" });
    return () => window.removeEventListener("message", onMessage);
  }, [begin, end, tell]);

  const expiresAt = session.state === "open" ? session.bootstrap.session.expiresAt : null;
  useEffect(() => {
    if (expiresAt === null) return;
    const timer = setTimeout(() => end(), Math.max(0, Date.parse(expiresAt) - Date.now()));
    return () => clearTimeout(timer);
  }, [expiresAt, end]);

  return { session, tell, end };
}
