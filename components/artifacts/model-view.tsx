"use client";
import "@google/model-viewer";
import { createElement, useEffect, useRef, useState } from "react";

/** A mesh to be turned, by pointer and by arrow keys. Default export: it is loaded by itself. */
export default function ModelView({ href, name }: { href: string; name: string }) {
  const viewer = useRef<HTMLElement>(null);
  const [state, setState] = useState<"loading" | "loaded" | "failed">("loading");
  useEffect(() => {
    const element = viewer.current;
    const onLoad = () => setState("loaded");
    const onError = () => setState("failed");
    element?.addEventListener("load", onLoad);
    element?.addEventListener("error", onError);
    return () => {
      element?.removeEventListener("load", onLoad);
      element?.removeEventListener("error", onError);
    };
  }, []);
  if (state === "failed")
    return (
      <p className="grid size-full place-items-center px-4 text-center text-sm text-muted">
        This mesh cannot be shown here. Download it to open it elsewhere.
      </p>
    );
  return createElement("model-viewer", {
    ref: viewer,
    src: href,
    alt: `Mesh ${name}`,
    "camera-controls": true,
    "touch-action": "pan-y",
    "shadow-intensity": "1",
    "interaction-prompt": "none",
    "data-state": state,
    style: { width: "100%", height: "100%" },
  });
}
