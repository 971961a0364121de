"use client";
import "@google/model-viewer";
import { createElement, useEffect, useRef, useState } from "react";

/*
 * The addresses from which the viewer loads decoders; any that is not set here comes from another host. The viewer bundles
 * the Meshopt decoder but still waits for its script. No mesh uses Lottie.
 */
Object.assign(self, {
  ModelViewerElement: {
    dracoDecoderLocation: "/decoders/draco/",
    ktx2TranscoderLocation: "/decoders/basis/",
    meshoptDecoderLocation: "data:text/javascript,",
    lottieLoaderLocation: "/decoders/lottie-is-not-served.js",
  },
});

/** Without WebGL 2 the viewer stays blank and reports no error. */
const canDraw = () => document.createElement("canvas").getContext("webgl2") !== null;

/** A mesh that can be rotated by pointer and arrow keys. A default export, for dynamic import. */
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
        This browser can't display the mesh. Download it to open it in another program.
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
