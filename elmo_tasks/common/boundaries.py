# The words that bound a sentence, in texts and vocabularies of bilm-tf and AllenNLP.
BEGIN_TOKEN, END_TOKEN = "<S>", "</S>"
