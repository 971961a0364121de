"use client";
import { Columns2, Expand, Minus, Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Dialog, DialogContent } from "@/components/ui/dialog";
import { Label } from "@/components/ui/label";
import { Select } from "@/components/ui/select";

export type Picture = { href: string; name: string };

/** The background of transparent images. */
export const CHECKERBOARD =
  "bg-[repeating-conic-gradient(var(--sunken)_0_25%,var(--surface)_0_50%)] bg-size-[16px_16px]";

const STEPS = [1, 1.5, 2, 3, 4, 6, 8];

/** An image that opens in a dialog with zoom, optionally next to another image of the same job. Alone, it keeps its own shape. */
export function ZoomableImage({
  picture,
  beside,
  isAlone,
}: {
  picture: Picture;
  beside: Picture[];
  isAlone: boolean;
}) {
  const [step, setStep] = useState(0);
  const [other, setOther] = useState<string | null>(null);
  const others = beside.filter(({ href }) => href !== picture.href);
  const compared = others.find(({ href }) => href === other);
  const scale = STEPS[step] ?? 1;
  const [isBroken, setBroken] = useState(false);
  if (isBroken)
    return (
      <p className={`grid aspect-4/3 w-full place-items-center px-3 text-sm text-muted ${CHECKERBOARD}`}>
        No preview: this file is not a readable image.
      </p>
    );
  return (
    <Dialog
      onOpenChange={(isOpen) => {
        if (isOpen) return;
        setStep(0);
        setOther(null);
      }}
      trigger={
        <button
          type="button"
          aria-label={`Enlarge ${picture.name}`}
          className={cn("group relative block w-full bg-sunken", !isAlone && "aspect-4/3")}
        >
          {/* biome-ignore lint/performance/noImgElement: shown as stored, behind the reader's session, never through an optimizer */}
          <img
            // It may have failed before the page's scripts ran.
            ref={(image) => {
              if (image?.complete && image.naturalWidth === 0) setBroken(true);
            }}
            onError={() => setBroken(true)}
            src={picture.href}
            alt={`Artifact ${picture.name}`}
            className={cn(
              CHECKERBOARD,
              isAlone ? "mx-auto block max-h-[40rem] min-h-40 max-w-full" : "size-full object-contain",
            )}
          />
          <span className="absolute right-2 bottom-2 grid size-7 place-items-center rounded-md border border-line bg-surface text-muted opacity-0 transition-opacity group-hover:opacity-100 group-focus-visible:opacity-100">
            <Expand aria-hidden className="size-4" />
          </span>
        </button>
      }
    >
      <DialogContent title={picture.name} className="max-w-6xl">
        <div className="mb-3 flex flex-wrap items-center gap-2">
          <Button size="icon" aria-label="Zoom out" disabled={step === 0} onClick={() => setStep(step - 1)}>
            <Minus aria-hidden />
          </Button>
          <span role="status" className="w-14 text-center text-sm tabular-nums">
            {Math.round(scale * 100)}%
          </span>
          <Button
            size="icon"
            aria-label="Zoom in"
            disabled={step === STEPS.length - 1}
            onClick={() => setStep(step + 1)}
          >
            <Plus aria-hidden />
          </Button>
          {others.length > 0 && (
            <div className="ml-auto flex items-center gap-2">
              <Label htmlFor="compare-with" className="flex items-center gap-1.5 font-normal text-muted">
                <Columns2 aria-hidden className="size-4" />
                Compare with
              </Label>
              <Select
                id="compare-with"
                className="h-8 w-auto min-w-32 text-sm"
                value={other ?? "none"}
                options={[
                  { value: "none", label: "None" },
                  ...others.map(({ href, name }) => ({ value: href, label: name })),
                ]}
                onValueChange={(href) => setOther(href === "none" ? null : href)}
              />
            </div>
          )}
        </div>
        <div className={cn("grid gap-3", compared && "sm:grid-cols-2")}>
          <Large picture={picture} scale={scale} />
          {compared && <Large picture={compared} scale={scale} />}
        </div>
      </DialogContent>
    </Dialog>
  );
}

function Large({ picture, scale }: { picture: Picture; scale: number }) {
  return (
    <section
      aria-label={`${picture.name}, enlarged`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      className={`h-[min(65vh,40rem)] overflow-auto rounded-md border border-line ${CHECKERBOARD}`}
    >
      <div style={{ width: `${scale * 100}%`, height: `${scale * 100}%` }}>
        {/* biome-ignore lint/performance/noImgElement: as stored */}
        <img src={picture.href} alt={`Artifact ${picture.name}`} className="size-full object-contain" />
      </div>
    </section>
  );
}
