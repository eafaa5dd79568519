package words

func summary() {}
