"""One text in each of seven languages, written for these tests."""

# Raw texts, and the tokens of their sentences.
TEXTS = {
    "ar": ("نام القط على السجادة. هل رأيته؟", ["نام القط على السجادة .", "هل رأيته ؟"]),
    "de": ("Die Bank ist zu. Hast du's gesehen?", ["Die Bank ist zu .", "Hast du 's gesehen ?"]),
    "eu": ("Katua lo dago. Ikusi duzu?", ["Katua lo dago .", "Ikusi duzu ?"]),
    "hi": ("बिल्ली सो रही है। क्या तुमने देखा?", ["बिल्ली सो रही है ।", "क्या तुमने देखा ?"]),
    "tr": (
        "İstanbul'da ILIK bir akşam. Irmağı gördün mü?",
        ["İstanbul'da ILIK bir akşam .", "Irmağı gördün mü ?"],
    ),
    # spaCy cuts Chinese into characters.
    "zh": ("猫在睡觉。你看见了吗？", ["猫 在 睡 觉 。", "你 看 见 了 吗 ？"]),
}

# Thai has no blanks, and spaCy cuts it only with another package.
CUT_THAI = "แมว นอน อยู่ บน เสื่อ"
