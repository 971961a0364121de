import { Maximize, Minus, Plus } from "lucide-react";
import { Button } from "@/components/ui/button";
import type { Shared } from "./picture-frame";
import { NEAREST, STEP, WHOLE, zoomed } from "./zoom";

/** Zoom controls for all images at once. */
export function ZoomBar({ view, look }: Shared) {
  return (
    <div role="toolbar" aria-label="Zoom all images" className="flex items-center gap-1.5">
      <Button
        size="icon"
        aria-label="Zoom out"
        disabled={view.scale <= 1}
        onClick={() => look((before) => zoomed(before, 1 / STEP))}
      >
        <Minus aria-hidden />
      </Button>
      <span role="status" className="w-14 text-center text-sm tabular-nums">
        {Math.round(view.scale * 100)}%
      </span>
      <Button
        size="icon"
        aria-label="Zoom in"
        disabled={view.scale >= NEAREST}
        onClick={() => look((before) => zoomed(before, STEP))}
      >
        <Plus aria-hidden />
      </Button>
      <Button
        size="icon"
        aria-label="Reset zoom"
        disabled={view.scale <= 1}
        onClick={() => look(() => WHOLE)}
      >
        <Maximize aria-hidden />
      </Button>
    </div>
  );
}
