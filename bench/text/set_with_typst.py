"""Sets a text with typst (PyPI: typst) and prints the shortest time in milliseconds.

Arguments: TEXT PDF FONTS LANGUAGE FAMILY WIDTH_MM MARGIN_MM SIZE_PT ROUNDS
"""

import os
import sys
import time

import typst

text, pdf, fonts, language, family, width, margin, size, rounds = sys.argv[1:]
body = open(text, encoding="utf-8").read()
for sign in "\\#$*_@<":
    body = body.replace(sign, "\\" + sign)
source = f"""#set page(width: {float(width) + 2 * float(margin)}mm, height: 297mm, margin: {margin}mm)
#set text(font: "{family}", size: {size}pt, lang: "{language}")
#set par(justify: true)
{body}"""

shortest = float("inf")
for round in range(int(float(rounds))):
    # Another file each time, since typst keeps the document of the last one.
    path = f"{text}.{round}.typ"
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    compiler = typst.Compiler(root=os.path.dirname(path), font_paths=[fonts], ignore_system_fonts=True)
    begun = time.perf_counter()
    result = compiler.compile(input=path)
    shortest = min(shortest, time.perf_counter() - begun)
with open(pdf, "wb") as file:
    file.write(result)
print(shortest * 1e3)
