"use client";
import dynamic from "next/dynamic";
import { type SyntheticEvent, useCallback, useId, useState } from "react";
import {
  CHECKERBOARD,
  Picture,
  PictureFrame,
  type Shared,
  useZoom,
  ZoomBar,
} from "@/components/artifacts/picture-frame";
import { artifactHref } from "@/components/jobs/artifact-gallery";
import { cn } from "@/components/ui/class-names";
import { Label } from "@/components/ui/label";
import { Select } from "@/components/ui/select";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import type { Comparison } from "@/server/contract/comparisons";
import { EntryCard } from "./entry-card";
import { entryName } from "./judgement";
import { usePair } from "./pair";
import { comparableText, mostItems, pictureOf } from "./shown";

const TextDifferences = dynamic(() => import("./text-differences"));

const COLUMNS: Record<number, string> = { 3: "md:grid-cols-2 xl:grid-cols-3" };

/** The entries side by side. Images zoom and pan together and can be overlaid; texts can be diffed. */
export function Entries({ comparison }: { comparison: Comparison }) {
  const { entries } = comparison;
  const [place, setPlace] = useState(0);
  const shared = useZoom();
  const most = mostItems(entries);
  const layers = entries.flatMap((entry, at): Layer[] => {
    const picture = pictureOf(entry, place);
    if (!picture) return [];
    return [{ id: entry.entryId, name: entryName(at), href: artifactHref(entry.jobId, picture.artifactId) }];
  });
  const texts = entries.flatMap((entry, at) => {
    const text = layers.length === 0 && most === 0 ? comparableText(entry) : null;
    return text === null ? [] : [{ id: entry.entryId, name: entryName(at), text }];
  });
  const other = layers.length > 1 ? "overlay" : texts.length > 1 ? "differences" : null;

  /** Only one audio or video plays at a time. */
  const playAlone = useCallback((event: SyntheticEvent<HTMLElement>) => {
    for (const each of event.currentTarget.querySelectorAll<HTMLMediaElement>("audio, video"))
      if (each !== event.target) each.pause();
  }, []);

  return (
    <Tabs defaultValue="beside">
      <section aria-label="Entries" onPlayCapture={playAlone}>
        <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2 empty:hidden">
          {other && (
            <TabsList aria-label="View">
              <TabsTrigger value="beside">Side by side</TabsTrigger>
              <TabsTrigger value={other}>{other === "overlay" ? "Overlay" : "Differences"}</TabsTrigger>
            </TabsList>
          )}
          {most > 1 && (
            <Select
              aria-label="Variant"
              className="h-8 w-40 text-sm"
              value={String(place)}
              options={Array.from({ length: most }, (_, at) => ({
                value: String(at),
                label: `Variant ${at + 1} of ${most}`,
              }))}
              onValueChange={(value) => setPlace(Number(value))}
            />
          )}
          {layers.length > 0 && <ZoomBar label="Zoom all images" {...shared} />}
          {layers.length > 0 && (
            <p className="basis-full text-xs text-muted xl:ml-auto xl:basis-auto">
              Images zoom and pan together: drag, pinch, or click one and use the wheel, +, − and the arrow
              keys.
            </p>
          )}
        </div>
        <TabsContent value="beside">
          <div className={cn("grid items-start gap-4", COLUMNS[entries.length] ?? "md:grid-cols-2")}>
            {entries.map((entry, at) => (
              <EntryCard
                key={entry.entryId}
                comparison={comparison}
                entry={entry}
                name={entryName(at)}
                place={place}
                shared={shared}
              />
            ))}
          </div>
        </TabsContent>
        {other && (
          <TabsContent value={other}>
            {other === "overlay" ? (
              <Overlay layers={layers} shared={shared} />
            ) : (
              <TextDifferences texts={texts} />
            )}
          </TabsContent>
        )}
      </section>
    </Tabs>
  );
}

type Layer = { id: string; name: string; href: string };

/** Two overlaid images with a divider that a slider moves. */
function Overlay({ layers, shared }: { layers: Layer[]; shared: Shared }) {
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
