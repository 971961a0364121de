"use client";
import { useQuery } from "@tanstack/react-query";
import { Box, FileBox, FileText, Music } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { CodeBlock } from "@/components/ui/code-block";
import { JsonView } from "@/components/ui/json-view";
import { Skeleton } from "@/components/ui/skeleton";
import { type PictureFile, ZoomableImage } from "./image-zoom";

/** The 3D library is large, so it is loaded only when a mesh is opened. */
const ModelView = dynamic(() => import("./model-view"), {
  ssr: false,
  loading: () => <Skeleton className="size-full rounded-none" />,
});

/** Image types that a browser renders without running code from the file. */
const PICTURES: readonly string[] = ["image/png", "image/jpeg", "image/webp"];
const isReadable = (mediaType: string) => /^(text\/(plain|markdown|csv)|application\/json)/.test(mediaType);
/** Larger texts are only offered as a download. */
const MOST_READABLE_BYTES = 1_000_000;

export const isPicture = (mediaType: string) => PICTURES.includes(mediaType);

export type Viewed = { href: string; name: string; mediaType: string; byteLength: number | null };

/** Previews an artifact by its media type, or shows an icon when there is no preview. Alone, it has the column to itself. */
export function ArtifactViewer({
  artifact,
  beside,
  isAlone = false,
}: {
  artifact: Viewed;
  beside: PictureFile[];
  isAlone?: boolean;
}) {
  const { href, name, mediaType, byteLength } = artifact;
  if (isPicture(mediaType))
    return <ZoomableImage picture={{ href, name }} beside={beside} isAlone={isAlone} />;
  if (mediaType.startsWith("audio/"))
    return (
      <Plate className={isAlone ? "aspect-auto h-24" : "aspect-auto h-36"}>
        <Music aria-hidden className="size-7" strokeWidth={1.25} />
        {/* biome-ignore lint/a11y/useMediaCaption: audio from a model has no captions */}
        <audio controls preload="metadata" src={href} aria-label={`Audio ${name}`} className="h-10 w-full" />
      </Plate>
    );
  if (mediaType.startsWith("video/"))
    return (
      // biome-ignore lint/a11y/useMediaCaption: video from a model has no captions
      <video
        controls
        playsInline
        preload="metadata"
        src={href}
        aria-label={`Video ${name}`}
        className={cn(
          "block w-full bg-black object-contain",
          isAlone ? "max-h-[40rem] min-h-40" : "aspect-4/3",
        )}
      />
    );
  if (mediaType === "model/gltf-binary") return <Mesh href={href} name={name} isAlone={isAlone} />;
  if (isReadable(mediaType) && (byteLength ?? 0) <= MOST_READABLE_BYTES)
    return (
      <Readable
        href={href}
        name={name}
        isJson={mediaType.startsWith("application/json")}
        className={isAlone ? "max-h-[40rem]" : "aspect-4/3 max-h-none"}
      />
    );
  const Icon = isReadable(mediaType) ? FileText : FileBox;
  return (
    <Plate>
      <Icon aria-hidden className="size-8" strokeWidth={1.25} />
    </Plate>
  );
}

function Plate({ className, children }: { className?: string; children: React.ReactNode }) {
  return (
    <div
      className={cn(
        "flex aspect-4/3 w-full flex-col items-center justify-center gap-4 bg-sunken px-3 text-muted",
        className,
      )}
    >
      {children}
    </div>
  );
}

function Mesh({ href, name, isAlone }: { href: string; name: string; isAlone: boolean }) {
  const [isShown, setShown] = useState(false);
  if (!isShown)
    return (
      <Plate className={isAlone ? "aspect-auto h-64" : ""}>
        <Box aria-hidden className="size-8" strokeWidth={1.25} />
        <Button size="sm" onClick={() => setShown(true)} aria-label={`Show ${name} in 3D`}>
          Show in 3D
        </Button>
      </Plate>
    );
  return (
    <div className="aspect-4/3 max-h-[40rem] w-full bg-sunken">
      <ModelView href={href} name={name} />
    </div>
  );
}

/** Text and JSON, fetched once since artifacts never change. */
function Readable({
  href,
  name,
  isJson,
  className,
}: {
  href: string;
  name: string;
  isJson: boolean;
  className: string;
}) {
  const { data, error } = useQuery({
    queryKey: ["artifact-text", href],
    queryFn: async ({ signal }) => {
      const answer = await fetch(href, { signal });
      if (!answer.ok) throw new Error("This file could not be loaded. Reload the page or download it.");
      return answer.text();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <Plate>{error.message}</Plate>;
  if (data === undefined) return <Skeleton className="aspect-4/3 w-full rounded-none" />;
  const parsed = isJson ? parse(data) : undefined;
  const look = cn("rounded-none border-0", className);
  return parsed === undefined ? (
    <CodeBlock code={data} what={name} wrap className={look} />
  ) : (
    <JsonView value={parsed} what={name} className={look} />
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
