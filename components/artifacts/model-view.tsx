"use client";
import "@google/model-viewer";
import { createElement, useEffect, useRef, useState } from "react";

/*
 * Where the viewer finds decoders, read whenever one is made; what is not named here it loads from other hosts. Meshopt's
 * decoder is part of the viewer, which waits for a script all the same. No mesh can ask for Lottie.
 */
Object.assign(self, {
  ModelViewerElement: {
    dracoDecoderLocation: "/decoders/draco/",
    ktx2TranscoderLocation: "/decoders/basis/",
    meshoptDecoderLocation: "data:text/javascript,",
    lottieLoaderLocation: "/decoders/lottie-is-not-served.js",
  },
});

/** The viewer itself shows nothing and reports no error where it cannot draw. */
const canDraw = () => document.createElement("canvas").getContext("webgl2") !== null;

/** A mesh to be turned, by pointer and by arrow keys. Default export: it is loaded by itself. */
export default function ModelView({ href, name }: { href: string; name: string }) {
  const viewer = useRef<HTMLElement>(null);
  const [state, setState] = useState<"loading" | "loaded" | "failed">(() =>
    canDraw() ? "loading" : "failed",
  );
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
