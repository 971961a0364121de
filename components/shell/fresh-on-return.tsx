"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { isAnythingUnsaved } from "@/components/unsaved/unsaved-work";

/**
 * Loads a page again that the browser kept in memory and shows on "Back": its session may have ended since. Where something
 * is typed, the page stays and its data is read again, which finds an ended session too.
 */
export function FreshOnReturn() {
  const queryClient = useQueryClient();
  useEffect(() => {
    function shown(event: PageTransitionEvent) {
      if (!event.persisted) return;
      if (isAnythingUnsaved()) return void queryClient.invalidateQueries();
      document.body.hidden = true; // nothing is seen until the new page replaces this one
      window.location.reload();
    }
    window.addEventListener("pageshow", shown);
    return () => window.removeEventListener("pageshow", shown);
  }, [queryClient]);
  return null;
}
