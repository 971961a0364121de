"use client";
import NextLink from "next/link";
import { type ComponentProps, useState } from "react";

/**
 * A link to one of our pages. What it needs is fetched once the reader points at it or reaches it by keyboard; Next would
 * fetch for every link in view, which is 60 requests on a list.
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
