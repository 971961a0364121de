"use client";
import { useSyncExternalStore } from "react";
import type { ExternalToast, toast as shown } from "sonner";
import { onDemand } from "./on-demand";

const Frame = onDemand(async () => (await import("./toaster-frame")).ToasterFrame);

type Act = (messages: typeof shown) => void;

let messages: typeof shown | undefined;
let isAsked = false;
const waiting: Act[] = [];
const listeners = new Set<() => void>();

function act(next: Act) {
  if (messages) return next(messages);
  waiting.push(next);
  isAsked = true;
  for (const listener of listeners) listener();
}

function ready(loaded: typeof shown) {
  messages = loaded;
  for (const next of waiting.splice(0)) next(loaded);
}

/** Short messages. What shows them is loaded with the first. */
export const toast = {
  success: (text: string) => act((loaded) => loaded.success(text)),
  error: (text: string, more?: Pick<ExternalToast, "description">) =>
    act((loaded) => loaded.error(text, more)),
  /** One that its sender can take away again. */
  show: (text: string, more: Pick<ExternalToast, "duration" | "action"> & { id: string }) =>
    act((loaded) => loaded(text, more)),
  dismiss: (id: string) => act((loaded) => loaded.dismiss(id)),
};

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Where short messages appear; announced politely. */
export function Toaster() {
  const isShown = useSyncExternalStore(
    subscribe,
    () => isAsked,
    () => false,
  );
  return isShown && <Frame onReady={ready} />;
}
