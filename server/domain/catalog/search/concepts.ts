/**
 * Words and phrases with one meaning, as people use them: English first, with the commonest words of some other
 * languages. This is general language only; the names of a single capability are in its own file.
 */
export const CONCEPTS: Readonly<Record<string, string>> = {
  image:
    "image, picture, photo, photograph, illustration, drawing, artwork, art, painting, portrait, graphic, visual, bild, foto, fotografie, imagen, immagine, dessin, dibujo, zeichnung, snapshot, still, pic, png, jpeg",
  draw: "draw, paint, illustrate, sketch, depict, watercolor, watercolour, photorealistic, cartoon, logo, icon, sprite, poster, wallpaper, avatar, banner, malen, zeichne, male, dessine, dessiner, dibuja, dibujar, cover art, book cover, mockup, emblem, mascot, clipart, a photo of, a picture of, picture of a, photo of a, image of a, bild von, dessin de, imagen de",
  alter:
    "edit, retouch, inpaint, outpaint, remove, erase, replace, swap, change, alter, modify, recolor, recolour, restore, enhance, touch up, cut out, clean up, photoshop, bearbeiten, entfernen, ersetzen, modifier, retoucher, effacer, editar, quitar, crop, blur, sharpen",
  see: "ocr, recognise, recognize, detect, count, spot, identify, what is in, look at, see, read off, visible, caption, vision, scanned, screenshot, handwriting, handwritten, scan, on this picture, on the picture, on a picture, on this photo, on the photo, are in the image, are in this image, are in the picture, are in this photo, is in the image, is in this photo, shown in, shows, how many, read the text, read the numbers, numbers off, off a picture, off a photo, off an image, meter, gauge, license plate, number plate, serial number, barcode",
  film: "video, movie, film, clip, animate, animation, footage, teaser, trailer, cinematic, motion, videoclip, pelicula, vidéo, reel",
  sound_effect:
    "sound effect, sfx, foley, noise, ambience, ambiance, soundscape, explosion, footsteps, creak, thunder, whoosh, click sound, beep, gunshot, splash, rustle, bang, gerausch, geräusch, klangeffekt, bruitage, efecto de sonido, sound of, roar, siren, engine",
  music:
    "music, song, melody, tune, soundtrack, jingle, beat, instrumental, orchestral, orchestra, lofi, score, jazz, techno, piano, guitar, ballad, track, background music, musik, lied, musique, chanson, musica, cancion, symphony, loop, ambient, hip hop",
  speak:
    "voice, speech, tts, narrate, narration, narrator, voiceover, voice over, read aloud, aloud, spoken, speak, say out loud, text to speech, audiobook, vorlesen, sprachausgabe, stimme, lire a voix haute, voix, voz, leer en voz alta, announcer, dub, pronounce",
  mesh: "3d, mesh, glb, gltf, 3d model, 3d asset, sculpt, polygon, low poly, game ready, printable, three dimensional, 3d modell, stl, obj, modelo 3d, modele 3d",
  build_mesh:
    "into a mesh, into a 3d mesh, into a 3d model, into 3d, to mesh, to a mesh, to 3d, to glb, as glb, as a glb, 3d asset out of, 3d model out of, 3d model from, mesh from, mesh of, glb of, glb model of, 3d figure, printable, game ready, low poly, textured, in ein 3d modell, en modele 3d, en modelo 3d, 3d figurine",
  picture_of_mesh:
    "of a mesh, of my mesh, of this mesh, of the mesh, of a glb, of my glb, of this glb, of a 3d model, of my 3d model, of this 3d model, of the 3d model, of a 3d asset, of my 3d asset, render my, render this, render a, my glb, this glb, glb file",
  single_image:
    "single image, one image, single photo, one photo, single picture, one picture, from a single, of a single, of one picture, from just one, this one, only one, image to 3d, photo to 3d, picture to 3d, ein foto in, ein bild in, aus einem foto, aus einem bild, une photo en, une image en, una foto en, una imagen en, turnaround",
  several_images:
    "several, multiple, multi view, references, reference images, several photos, several pictures, my pictures, my photos, these pictures, these photos, reference pictures, reference photos, photos of, photogrammetry, multi view images, back photos, front side and back photos",
  render:
    "render, rendering, turntable, orthographic, angles, angle, contact sheet, viewpoint, preview, screenshots, camera, views, from all sides, rendern",
  translate:
    "translate, translation, localize, localise, localization, localisation, l10n, i18n, ubersetzen, übersetze, übersetzung, traduire, traduction, traducir, traduce, traduccion, tradurre, interpreter, into french, into german, into spanish, in spanish, in french, in german, in english, to japanese, multilingual, bilingual, another language, foreign language",
  language:
    "french, german, spanish, italian, japanese, chinese, english, korean, portuguese, arabic, russian, dutch, polish, anglais, allemand, francais, ingles, deutsch, englisch, franzosisch, espanol, language, sprache, langue, idioma",
  json: "json, json schema, schema, structured output, object, typed, machine readable, key value, key value pairs, instead of prose, fixed fields, valid json",
  extract:
    "extract, pull out, pull the, fields, entities, entity, parse, structured data, unstructured, messy, data out of, mentioned, every person, find every, find all, all names, names and dates, line items, extraer, extraire, extrahieren, auslesen, harvest, capture",
  business_document:
    "document, invoice, contract, receipt, cv, resume, form, pdf, clause, letter, certificate, factura, rechnung, vertrag, dokument, facture, contrat, contrato, paperwork, agreement",
  embed:
    "embed, embedding, embeddings, vector, vectors, vectorise, vectorize, into vectors, into embeddings, semantic search, similarity search, rag, retrieval, nearest neighbours, nearest neighbors, vector index, einbettung, vektoren, vecteurs, vectores",
  rank: "rank, ranking, rerank, order them, put in order, in order, sort, prioritise, prioritize, most relevant, top list, shortlist, sortieren, ordnen, classer, ordenar, leaderboard, strongest, relevance",
  judge:
    "judge, adjudicate, adjudication, verdict, decide, ruling, arbitrate, referee, grade, rubric, pass or fail, which is right, evaluate answers, settle, dispute, conflicting, compliance, violates, evaluation, moderator, beurteilen, entscheiden, juger",
  verify:
    "verify, check, validate, confirm, evidence, quote, quotes, proof, compare with, fact check, cross check, matches, audit, contains, backed by, backed up by, appear in the source, required, missing, prufen, prufe, überprüfen, verifier, verificar, clauses, checklist",
  think:
    "think, reason, reasoning, logic, step by step, carefully, analyse, analyze, analysis, debug, prove, proof, trade offs, tradeoffs, plan, complex, difficult, hard, deep, in depth, root cause, nachdenken, raisonner, razonar, derive, derivation, theorem, lemma, recursion, recursive, recurrence, algorithm, deadlock, infinite loop, race condition, fallacy, puzzle, riddle, terminates, strategy, why",
  utmost:
    "hardest, deepest, strongest, maximum, most powerful, highest, frontier, whole code base, entire, huge, biggest, largest, very long, long context, context window, utmost, best possible, most capable, best model, best frontier, regardless of cost, no matter what it costs, no matter the cost, whole archive, entire archive, hundreds of pages, all at once, research question, research level, monorepo, very large, exhaustive, whole repository, entire codebase",
  summarize:
    "summarise, summarize, summary, tl dr, tldr, gist, condense, shorten, boil down, zusammenfassen, resumer, resume this, resume este, resume el, resume la, resumir, riassumere, digest, recap, bullet points",
  chat: "chat, chatbot, answer, reply, question, ask, assistant, conversation, respond, antworten, repondre, responder, explain, explanation, frage, question answering, what is the, what is a, who was, who wrote, when did, when was, tell me, quick question, short answer, meaning of, short email, quick email, short message, reply to",
  rewrite:
    "rewrite, rephrase, reword, paraphrase, proofread, grammar, friendlier, polite, tone, polish, simplify, improve the wording, umformulieren, reformuler, spelling, typos, punctuation, so it sounds, sounds less, sounds more, sound more, sound less, sound friendlier, fix the grammar, wording, more formal, more polite, less formal",
  classify:
    "classify, categorise, categorize, label, tag, sentiment, spam or not, positive or negative, customer review, urgent or not, which category, klassifizieren, support ticket, feedback",
  story:
    "story, novel, chapter, fiction, fantasy, essay, screenplay, script, dialogue, poem, saga, novella, tale, memoir, manuscript, longform, long form, geschichte, roman, histoire, cuento, novela, racconto, thousand words, creative writing, film script, screenplay for, speech for a wedding, wedding speech, bedtime, character, plot, kapitel, epic tale",
  calculate:
    "calculate, calculation, compute, evaluate, arithmetic, math, maths, percent, percentage, formula, equation, sum, add up, multiply, divide, square root, interest, mortgage, payment, decimal, rounding, exact, wie viel ist, wie viel sind, combien font, cuanto es, calcular, rechnen, berechne, calculer, raiz cuadrada, wurzel, how much is, expression, vat, tax, loan",
  domain:
    "domain, domain name, web address, url, hostname, tld, com, io, dev, website name, registrar, nom de domaine, dominio, internetadresse",
  available:
    "available, availability, free, taken, unregistered, vacant, frei, verfugbar, libre, disponible, disponible, unclaimed, whois, still free, already taken",
  price:
    "price, pricing, cost, costs, fee, fees, how much does, renewal, renew, per year, cheapest, expensive, kosten, preis, prix, precio, compare prices, rate, tariff, kostet, im jahr, pro jahr, par an, al ano, first year",
};
