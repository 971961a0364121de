"use client";
import { Columns2, Expand } from "lucide-react";
import { useState } from "react";
import { cn } from "@/components/ui/class-names";
import { Dialog, DialogContent } from "@/components/ui/dialog";
import { Label } from "@/components/ui/label";
import { Select } from "@/components/ui/select";
import { CHECKERBOARD, Picture, PictureFrame, useZoom, ZoomBar } from "./picture-frame";
import { WHOLE } from "./zoom";

export type PictureFile = { href: string; name: string };

/** An image that opens in a dialog with zoom, optionally next to another image of the same job. Alone, it keeps its own shape. */
export function ZoomableImage({
  picture,
  beside,
  isAlone,
}: {
  picture: PictureFile;
  beside: PictureFile[];
  isAlone: boolean;
}) {
  const zoom = useZoom();
  const [other, setOther] = useState<string | null>(null);
  const others = beside.filter(({ href }) => href !== picture.href);
  const compared = others.find(({ href }) => href === other);
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
        zoom.look(() => WHOLE);
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
            // The image may have failed before the page's scripts ran.
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
          <ZoomBar label="Zoom" {...zoom} />
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
          {[picture, ...(compared ? [compared] : [])].map(({ href, name }) => (
            <PictureFrame
              key={href}
              name={`${name}, enlarged`}
              shared={zoom}
              className="h-[min(65vh,40rem)] rounded-md border border-line"
            >
              <Picture href={href} alt={`Artifact ${name}`} view={zoom.view} />
            </PictureFrame>
          ))}
        </div>
      </DialogContent>
    </Dialog>
  );
}
