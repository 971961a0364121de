"use client";
import { useEffect, useState } from "react";
import type { ExternalToast, toast as shown } from "sonner";
import { onDemand } from "./on-demand";

const Frame = onDemand(() => import("./toaster-frame")).part((code) => code.ToasterFrame);

let mount = () => {};
let ready: (loaded: typeof shown) => void;
const messages = new Promise<typeof shown>((resolve) => {
  ready = resolve;
});

function act(next: (loaded: typeof shown) => void) {
  mount();
  void messages.then(next);
}

/** Short messages. The code that shows them is loaded with the first one. */
export const toast = {
  success: (text: string) => act((loaded) => loaded.success(text)),
  error: (text: string, more?: Pick<ExternalToast, "description">) =>
    act((loaded) => loaded.error(text, more)),
  /** Shows a message that its sender can dismiss by id. */
  show: (text: string, more: Pick<ExternalToast, "duration" | "action"> & { id: string }) =>
    act((loaded) => loaded(text, more)),
  dismiss: (id: string) => act((loaded) => loaded.dismiss(id)),
};

/** The place of short messages; they are announced politely. */
export function Toaster() {
  const [isAsked, setAsked] = useState(false);
  useEffect(() => {
    mount = () => setAsked(true);
  }, []);
  return isAsked && <Frame onReady={ready} />;
}
