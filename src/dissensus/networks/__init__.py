"""Parts of networks, in torch, that several methods and encoders share."""
