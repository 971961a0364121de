"use client";
import NextLink from "next/link";
import { type ComponentProps, useState } from "react";

/**
 * A link to one of our pages, which is prefetched once the reader hovers or focuses the link. Next would prefetch every visible
 * link, which is 60 requests on a list.
 */
export default function Link({ onMouseEnter, onFocus, ...rest }: ComponentProps<typeof NextLink>) {
  const [isNear, setNear] = useState(false);
  return (
    <NextLink
      prefetch={isNear ? null : false}
      onMouseEnter={(event) => {
        setNear(true);
        onMouseEnter?.(event);
      }}
      onFocus={(event) => {
        setNear(true);
        onFocus?.(event);
      }}
      {...rest}
    />
  );
}
