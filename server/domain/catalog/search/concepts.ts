/**
 * Words and phrases of one meaning, as people ask for it: English first, the commonest words of some other languages with it.
 * General language only; what a single capability is called stands in its own file.
 */
export const CONCEPTS: Readonly<Record<string, string>> = {
  image:
    "image, picture, photo, photograph, illustration, drawing, artwork, art, painting, portrait, graphic, visual, bild, foto, fotografie, imagen, immagine, dessin, dibujo, zeichnung, snapshot, still, pic, png, jpeg",
  draw: "draw, paint, illustrate, sketch, depict, watercolor, watercolour, photorealistic, cartoon, logo, icon, sprite, poster, wallpaper, avatar, banner, malen, zeichne, male, dessine, dessiner, dibuja, dibujar, cover art, book cover, mockup, emblem, mascot, clipart",
  alter:
    "edit, retouch, inpaint, outpaint, remove, erase, replace, swap, change, alter, modify, recolor, recolour, restore, enhance, touch up, cut out, clean up, photoshop, bearbeiten, entfernen, ersetzen, modifier, retoucher, effacer, editar, quitar, crop, blur, sharpen",
  see: "ocr, recognise, recognize, detect, count, spot, identify, what is in, look at, see, read off, visible, caption, vision, scanned, screenshot, handwriting, handwritten, scan",
  film: "video, movie, film, clip, animate, animation, footage, teaser, trailer, cinematic, motion, videoclip, pelicula, vidéo, reel",
  sound_effect:
    "sound effect, sfx, foley, noise, ambience, ambiance, soundscape, explosion, footsteps, creak, thunder, whoosh, click sound, beep, gunshot, splash, rustle, bang, gerausch, geräusch, klangeffekt, bruitage, efecto de sonido, sound of, roar, siren, engine",
  music:
    "music, song, melody, tune, soundtrack, jingle, beat, instrumental, orchestral, orchestra, lofi, score, jazz, techno, piano, guitar, ballad, track, background music, musik, lied, musique, chanson, musica, cancion, symphony, loop, ambient, hip hop",
  speak:
    "voice, speech, tts, narrate, narration, narrator, voiceover, voice over, read aloud, aloud, spoken, speak, say out loud, text to speech, audiobook, vorlesen, sprachausgabe, stimme, lire a voix haute, voix, voz, leer en voz alta, announcer, dub, pronounce",
  mesh: "3d, mesh, glb, gltf, 3d model, 3d asset, sculpt, polygon, low poly, game ready, printable, three dimensional, 3d modell, stl, obj, modelo 3d, modele 3d",
  single_image:
    "single image, one image, single photo, one photo, single picture, one picture, from a photo, from a picture, from an image, a picture of, a photo of, image to 3d, photo to 3d, ein foto, ein bild, une photo, una foto, turnaround",
  several_images: "several, multiple, multi view, views, references, reference images, concepts, drawings",
  render:
    "render, rendering, turntable, orthographic, angles, angle, contact sheet, viewpoint, preview, screenshots, camera, views, from all sides, rendern",
  translate:
    "translate, translation, localize, localise, localization, localisation, l10n, i18n, ubersetzen, übersetze, übersetzung, traduire, traduction, traducir, traduce, traduccion, tradurre, interpreter, into french, into german, into spanish, in spanish, in french, in german, in english, to japanese, multilingual, bilingual, another language, foreign language",
  language:
    "french, german, spanish, italian, japanese, chinese, english, korean, portuguese, arabic, russian, dutch, polish, anglais, allemand, francais, ingles, deutsch, englisch, franzosisch, espanol, language, sprache, langue, idioma",
  json: "json, json schema, schema, structured output, object, typed, machine readable, key value",
  extract:
    "extract, pull out, pull the, fields, entities, entity, parse, structured data, unstructured, messy, data out of, extraer, extraire, extrahieren, auslesen, harvest, capture",
  business_document:
    "document, invoice, contract, receipt, cv, resume, form, pdf, clause, letter, certificate, factura, rechnung, vertrag, dokument, facture, contrat, contrato, paperwork, agreement",
  rank: "rank, ranking, rerank, order them, put in order, in order, sort, prioritise, prioritize, most relevant, top list, shortlist, sortieren, ordnen, classer, ordenar, leaderboard, strongest, relevance",
  judge:
    "judge, adjudicate, adjudication, verdict, decide, ruling, arbitrate, referee, grade, rubric, pass or fail, which is right, evaluate answers, settle, dispute, conflicting, compliance, violates, evaluation, moderator, beurteilen, entscheiden, juger",
  verify:
    "verify, check, validate, confirm, evidence, quote, quotes, proof, compare with, fact check, cross check, audit, contains, prufen, überprüfen, verifier, verificar, clauses, checklist",
  think:
    "think, reason, reasoning, logic, step by step, carefully, analyse, analyze, analysis, debug, prove, proof, trade offs, tradeoffs, plan, complex, difficult, hard, deep, in depth, root cause, nachdenken, raisonner, razonar, derive, strategy, why",
  utmost:
    "hardest, deepest, strongest, maximum, most powerful, highest, frontier, whole code base, entire, huge, biggest, largest, very long, long context, context window, utmost, best possible, exhaustive, whole repository, entire codebase",
  summarize:
    "summarise, summarize, summary, tl dr, tldr, gist, condense, shorten, boil down, zusammenfassen, resumer, resume this, resumir, riassumere, digest, recap, bullet points",
  chat: "chat, chatbot, answer, reply, question, ask, assistant, conversation, respond, antworten, repondre, responder, explain, explanation, frage, question answering",
  rewrite:
    "rewrite, rephrase, reword, paraphrase, proofread, grammar, friendlier, polite, tone, polish, simplify, improve the wording, umformulieren, reformuler, spelling, sounds, sound friendlier",
  classify: "classify, categorise, categorize, label, tag, sentiment, spam or not",
  story:
    "story, novel, chapter, fiction, fantasy, essay, screenplay, script, dialogue, poem, saga, novella, tale, memoir, manuscript, longform, long form, geschichte, roman, histoire, cuento, novela, racconto, thousand words, creative writing, character, plot, kapitel, epic tale",
  calculate:
    "calculate, calculation, compute, evaluate, arithmetic, math, maths, percent, percentage, formula, equation, sum, add up, multiply, divide, square root, interest, mortgage, payment, decimal, rounding, exact, calcular, rechnen, berechne, calculer, raiz cuadrada, wurzel, how much is, expression, vat, tax, loan",
  domain:
    "domain, domain name, web address, url, hostname, tld, com, io, dev, website name, registrar, nom de domaine, dominio, internetadresse",
  available:
    "available, availability, free, taken, unregistered, vacant, frei, verfugbar, libre, disponible, disponible, unclaimed, whois, still free, already taken",
  price:
    "price, pricing, cost, costs, fee, fees, how much does, renewal, renew, per year, cheapest, expensive, kosten, preis, prix, precio, compare prices, prices, rate, tariff",
};
