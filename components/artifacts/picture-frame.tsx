"use client";
import { Maximize, Minus, Plus } from "lucide-react";
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import {
  byKey,
  moved,
  NEAREST,
  type Point,
  pinched,
  STEP,
  transformOf,
  type Viewport,
  WHOLE,
  wheelFactor,
  zoomed,
} from "./zoom";

/** The background of transparent images. */
export const CHECKERBOARD =
  "bg-[repeating-conic-gradient(var(--sunken)_0_25%,var(--surface)_0_50%)] bg-size-[16px_16px]";

/** A view that several frames share, so that they zoom and pan together. */
export type Shared = { view: Viewport; look(change: (before: Viewport) => Viewport): void };

export function useZoom(): Shared {
  const [view, setView] = useState<Viewport>(WHOLE);
  return useMemo(() => ({ view, look: setView }), [view]);
}

type Props = {
  name: string;
  shared: Shared;
  className?: string;
  /** Fills the frame; see `Picture`. */
  children: ReactNode;
};

/** A frame that shows part of an image; zoomed and panned by pointer, wheel, pinch and keys. */
export function PictureFrame({ name, shared, className, children }: Props) {
  const frame = useRef<HTMLElement>(null);
  const hands = usePointers(shared);
  useWheel(frame, shared);
  const isNear = shared.view.scale > 1;
  return (
    <section
      ref={frame}
      aria-label={`${name}: plus and minus zoom, arrow keys move`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame controlled by keys must be focusable
      tabIndex={0}
      data-scale={shared.view.scale.toFixed(2)}
      className={cn(
        "relative overflow-hidden outline-offset-[-2px] select-none",
        CHECKERBOARD,
        // One finger scrolls the page, or pans a zoomed image; two fingers always zoom.
        isNear ? "cursor-grab touch-none active:cursor-grabbing" : "touch-pan-y",
        className,
      )}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
        const after = byKey(shared.view, event.key);
        if (!after) return;
        event.preventDefault();
        shared.look(() => after);
      }}
      {...hands}
    >
      {children}
    </section>
  );
}

/** An image that fills its frame, transformed by the view. */
export function Picture({ href, alt, view }: { href: string; alt: string; view: Viewport }) {
  return (
    // biome-ignore lint/performance/noImgElement: shown as stored, behind the reader's session, never through an optimizer
    <img
      src={href}
      alt={alt}
      draggable={false}
      className="size-full object-contain"
      style={{ transform: transformOf(view), imageRendering: view.scale >= 6 ? "pixelated" : undefined }}
    />
  );
}

/** One pointer pans, two pinch. */
function usePointers({ look }: Shared) {
  const held = useRef(new Map<number, Point>());
  const at = (event: React.PointerEvent<HTMLElement>): Point => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  };
  const release = (event: React.PointerEvent<HTMLElement>) => {
    held.current.delete(event.pointerId);
  };
  return {
    onPointerDown(event: React.PointerEvent<HTMLElement>) {
      if (event.button !== 0 || held.current.size > 1) return;
      held.current.set(event.pointerId, at(event));
      event.currentTarget.setPointerCapture?.(event.pointerId);
    },
    onPointerMove(event: React.PointerEvent<HTMLElement>) {
      const before = held.current.get(event.pointerId);
      if (!before) return;
      const now = at(event);
      const [other] = [...held.current].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
      held.current.set(event.pointerId, now);
      const { width, height } = event.currentTarget.getBoundingClientRect();
      look((view) =>
        other
          ? pinched(view, [before, other], [now, other], width / height)
          : moved(view, { x: now.x - before.x, y: now.y - before.y }),
      );
    },
    onPointerUp: release,
    onPointerCancel: release,
    onLostPointerCapture: release,
  };
}

/**
 * The wheel zooms only when the reader works with the images: one has focus, they are zoomed in, or it is a trackpad pinch.
 * Otherwise it scrolls the page, which would get stuck at every image.
 */
function useWheel(frame: RefObject<HTMLElement | null>, { view, look }: Shared) {
  const isNear = view.scale > 1;
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    function onWheel(event: WheelEvent) {
      const isMeant = isNear || event.ctrlKey || document.activeElement === element;
      if (!element || !isMeant || (!isNear && event.deltaY > 0 && !event.ctrlKey)) return;
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const at = { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
      const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 30 : event.deltaY;
      look((before) => zoomed(before, wheelFactor(pixels), at));
    }
    // React's own listener is passive, so it cannot stop the page from scrolling.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [frame, look, isNear]);
}

/** Zoom controls of all images that share a view. */
export function ZoomBar({ label, view, look }: Shared & { label: string }) {
  return (
    <div role="toolbar" aria-label={label} className="flex items-center gap-1.5">
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
