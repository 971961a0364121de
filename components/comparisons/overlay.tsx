"use client";
import { useId, useState } from "react";
import { CHECKERBOARD } from "@/components/artifacts/image-zoom";
import { Label } from "@/components/ui/label";
import { usePair } from "./pair";
import { Picture, PictureFrame, type Shared } from "./picture-frame";

export type Layer = { id: string; name: string; href: string };

/** Two overlaid images with a divider that can be dragged across. */
export function Overlay({ layers, shared }: { layers: Layer[]; shared: Shared }) {
  const [border, setBorder] = useState(50);
  const id = useId();
  const pair = usePair(layers);
  if (!pair) return null;
  const { left, right, choice } = pair;
  return (
    <div className="space-y-3">
      {choice}
      <PictureFrame
        name={`${left.name} over ${right.name}`}
        shared={shared}
        className="h-[min(70vh,44rem)] w-full max-sm:aspect-square max-sm:h-auto rounded-lg border border-line"
      >
        <Picture href={right.href} alt={right.name} view={shared.view} />
        <div className="absolute inset-0" style={{ clipPath: `inset(0 ${100 - border}% 0 0)` }}>
          {/* Hides the lower image behind transparent areas. */}
          <div className={`absolute inset-0 ${CHECKERBOARD}`} />
          <div className="relative size-full">
            <Picture href={left.href} alt={left.name} view={shared.view} />
          </div>
        </div>
        <span
          aria-hidden
          className="pointer-events-none absolute inset-y-0 w-0.5 -translate-x-1/2 bg-primary"
          style={{ left: `${border}%` }}
        />
        <Sign className="left-2">{left.name}</Sign>
        <Sign className="right-2">{right.name}</Sign>
      </PictureFrame>
      <div className="flex items-center gap-3">
        <Label htmlFor={id} className="shrink-0">
          Divider
        </Label>
        <input
          id={id}
          type="range"
          min={0}
          max={100}
          value={border}
          aria-valuetext={`${border}% ${left.name}`}
          className="h-8 w-full accent-primary"
          onChange={({ target }) => setBorder(Number(target.value))}
        />
      </div>
    </div>
  );
}

function Sign({ className, children }: { className: string; children: string }) {
  return (
    <span
      aria-hidden
      className={`pointer-events-none absolute top-2 rounded-md border border-line bg-surface px-2 py-0.5 text-xs font-semibold ${className}`}
    >
      {children}
    </span>
  );
}
