"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect, useEffectEvent } from "react";
import { toast } from "sonner";
import { useTRPCClient } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import {
  dropQuestion,
  giveUp,
  isAnythingUnsaved,
  leaveUnsaved,
  signedInAgain,
  useStanding,
} from "./unsaved-work";

/** Asks before a page is left on which something is typed that is nowhere else, and says when the session has ended meanwhile. */
export function UnsavedGuard() {
  useAskedBefore();
  const { question, isSignedOut } = useStanding();
  useReturn(isSignedOut);
  return (
    <>
      <Confirm
        title="Leave without saving?"
        description="What you typed on this page is kept nowhere else."
        action="Leave"
        keep="Stay here"
        open={question?.kind === "leave"}
        onOpenChange={(isOpen) => isOpen || dropQuestion()}
        onConfirm={() => {
          if (question?.kind !== "leave") return;
          giveUp();
          question.go();
        }}
      />
      <Confirm
        title="You are signed out"
        description="Your session has ended. What you typed is still here: sign in again in another tab, come back, and send it once more."
        action="Sign in in another tab"
        actionVariant="primary"
        keep="Not now"
        open={question?.kind === "signIn"}
        onOpenChange={(isOpen) => isOpen || dropQuestion()}
        onConfirm={() => window.open("/sign-in?callbackUrl=/signed-in&reason=ended", "_blank", "noopener")}
      />
    </>
  );
}

/** Before a link of ours is followed, and before the browser closes or loads the page anew. */
function useAskedBefore() {
  const router = useRouter();
  const follow = useEffectEvent((link: HTMLAnchorElement) => {
    if (link.isConnected) link.click();
    else router.push(link.href); // of a menu that is closed by now
  });
  useEffect(() => {
    function click(event: MouseEvent) {
      const link = linkOf(event);
      if (!link || !isAnythingUnsaved()) return;
      event.preventDefault(); // Next's links heed it as the browser does
      leaveUnsaved(() => follow(link));
    }
    function unload(event: BeforeUnloadEvent) {
      if (isAnythingUnsaved()) event.preventDefault();
    }
    window.addEventListener("click", click, { capture: true });
    window.addEventListener("beforeunload", unload);
    return () => {
      window.removeEventListener("click", click, { capture: true });
      window.removeEventListener("beforeunload", unload);
    };
  }, []);
}

/** The link of ours by which this click leaves the page; one marked `data-takes-along` takes what was typed along. */
function linkOf(event: MouseEvent): HTMLAnchorElement | null {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement)) return null;
  if (link.target === "_blank" || link.hasAttribute("download") || "takesAlong" in link.dataset) return null;
  const { origin, pathname, search } = new URL(link.href);
  if (origin !== window.location.origin) return null; // the browser asks itself
  const isHere = pathname === window.location.pathname && search === window.location.search;
  return isHere ? null : link;
}

/** Once the reader is back and signed in again, everything is read anew, and what was typed can be sent. */
function useReturn(isSignedOut: boolean) {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!isSignedOut) return;
    async function look() {
      if (document.visibilityState === "hidden") return;
      const isBack = await client.projects.list.query().then(
        () => true,
        () => false,
      );
      if (!isBack) return;
      signedInAgain();
      toast.success("You are signed in again. What you typed is still here.");
      void queryClient.invalidateQueries();
    }
    window.addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, [isSignedOut, client, queryClient]);
}
