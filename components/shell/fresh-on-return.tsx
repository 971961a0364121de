"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { isAnythingUnsaved } from "@/components/unsaved/unsaved-work";

/**
 * Reloads a page that the browser restores from memory on "Back", because its session may have ended since. A page with
 * unsaved input stays and its data is fetched again, which finds an ended session too.
 */
export function FreshOnReturn() {
  const queryClient = useQueryClient();
  useEffect(() => {
    function shown(event: PageTransitionEvent) {
      if (!event.persisted) return;
      if (isAnythingUnsaved()) return void queryClient.invalidateQueries();
      document.body.hidden = true; // hidden until the new page replaces this one
      window.location.reload();
    }
    window.addEventListener("pageshow", shown);
    return () => window.removeEventListener("pageshow", shown);
  }, [queryClient]);
  return null;
}
